export const english = {
  hours: "Clock",
  hours24: "24 hours",
  hoursOfLanguage: "Match language",
  newVersion: "A new version of this page is ready.",
  offlineAsOf: "Offline: values as of {time}",
  reload: "Reload",
  zone: "Time zone",
  zoneExchange: "New York",
  zoneLocal: "Local time",
} as const;

export const turkish: Record<keyof typeof english, string> = {
  hours: "Saat",
  hours24: "24 saat",
  hoursOfLanguage: "Dile göre",
  newVersion: "Bu sayfanın yeni bir sürümü hazır.",
  offlineAsOf: "Çevrimdışı: değerler {time} itibarıyla",
  reload: "Yenile",
  zone: "Saat dilimi",
  zoneExchange: "New York",
  zoneLocal: "Yerel saat",
};
