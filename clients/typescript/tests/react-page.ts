/** In a browser: components with `useQuotes`, whose prices and numbers of renderings a test reads. */
import { createElement as create, useState } from "react";
import { createRoot } from "react-dom/client";

import { Client } from "../src/index.ts";
import { useQuotes } from "../src/react/index.ts";
import { FakeMarket, quote, snapshot, until, update } from "./fake-market.ts";

const renderings = new Map<string, number>();

function Prices({ id, client, symbols }: { id: string; client: Client; symbols: readonly string[] }) {
  const quotes = useQuotes(client, symbols);
  renderings.set(id, (renderings.get(id) ?? 0) + 1);
  return create("p", { id }, symbols.map((each) => `${each} ${quotes[each]?.price ?? "-"}`).join(" · "));
}

/** Renders an element in an empty page; returns what removes it. */
function render(element: ReturnType<typeof create>): () => void {
  const place = document.documentElement.appendChild(document.createElement("div"));
  const root = createRoot(place);
  root.render(element);
  return () => root.unmount();
}

const shown = (id: string): string => document.getElementById(id)?.textContent ?? "";

/** Components of a fake market: a change of one symbol renders its own components alone. */
async function countRenderings(): Promise<Record<string, unknown>> {
  const market = new FakeMarket();
  const { client } = market;
  const [bitcoin, ether] = [["BTC/USDT"], ["ETH/USDT"]];
  const close = render(
    create(
      "div",
      null,
      create(Prices, { id: "bitcoin", client, symbols: bitcoin }),
      create(Prices, { id: "ether", client, symbols: ether }),
      create(Prices, { id: "both", client, symbols: [...bitcoin, ...ether] }),
    ),
  );
  const socket = await market.socket();
  socket.receive(snapshot(1, "resync", quote("BTC/USDT", 1), quote("ETH/USDT", 2)));
  await until(() => shown("both") === "BTC/USDT 1 · ETH/USDT 2");
  renderings.clear();
  for (const price of [3, 4]) {
    socket.receive(update(price, [{ ticker: "ETH/USDT", price }]));
    await until(() => shown("ether") === `ETH/USDT ${price}` && shown("both") === `BTC/USDT 1 · ETH/USDT ${price}`);
  }
  const counted = Object.fromEntries(renderings);
  close();
  await until(() => socket.isClosed);
  return { ...counted, sockets: market.sockets.length };
}

let choose: (symbols: readonly string[]) => void = () => {};

function Chosen({ client }: { client: Client }) {
  const [symbols, setSymbols] = useState<readonly string[]>(["AAPL", "BTC/USDT"]);
  choose = setSymbols;
  return create(Prices, { id: "chosen", client, symbols });
}

/** A component with a real service; a test reads it, and chooses other symbols. */
const showService = (address: string): void => {
  render(create(Chosen, { client: new Client(address) }));
};

Object.assign(globalThis, { countRenderings, showService, chooseSymbols: (symbols: string[]) => choose(symbols) });
