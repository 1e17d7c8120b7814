"""Currency codes of ISO 4217."""

from typing import Final

_CODES: Final = """
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD
HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL
LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP
PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT
TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
"""

#: Active codes of money, without funds, metals and test codes.
CURRENCIES: Final = frozenset(_CODES.split())

#: Minor units that are written in capitals, as exchanges do.
_MINOR: Final = {"GBX": "GBP", "ZAC": "ZAR", "ILA": "ILS"}


def major_of(unit: str) -> str | None:
    """Returns the currency of a minor unit, such as GBP for GBp and GBX; None for any other text.

    Exchanges write a minor unit as the currency's code with a small last letter.
    """
    if len(unit) == 3 and unit[:2].isupper() and unit[2].islower():
        of_country = [code for code in CURRENCIES if code.startswith(unit[:2])]
        return unit.upper() if unit.upper() in of_country else next(iter(sorted(of_country)), None)
    return _MINOR.get(unit.upper())
