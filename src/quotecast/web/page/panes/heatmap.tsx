import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Heatmap as HeatmapAnswer, HeatmapSector, HeatmapStock } from "../../client/index.ts";
import { percent, price } from "../formats.ts";
import { instrumentOf } from "../instruments.ts";
import type { AnyQuote } from "../live.ts";
import { AnswerView, useVisible } from "../pane.tsx";
import { select } from "../selection.ts";
import { live, rest, useAnswer } from "../service.ts";
import { say } from "../words.ts";
import { type Box, treemap } from "./treemap.ts";

/** Weights hardly move: the page loads them once a minute, and the colours follow the feed. */
const EVERY_MS = 60_000;
/** Colours are coarse: five hundred tiles need no update at every tick. */
const COLOURS_EVERY_MS = 1000;
const HEADING_HEIGHT = 16;
/** Per cent of change per step of colour; there are three steps either way. */
const STEP_PERCENT = 0.75;
const [LETTER_WIDTH, PERCENT_FROM] = [7.2, 38];
/** Width in pixels from which a sector's heading shows its change. */
const CHANGE_FROM = 64;

export function Heatmap() {
  const answer = useAnswer(() => rest.call("GET /api/market/heatmap"), "heatmap", {
    everyMs: EVERY_MS,
    active: useVisible(),
  });
  return <AnswerView answer={answer}>{(map) => <Sectors map={map} />}</AnswerView>;
}

function Sectors({ map }: { readonly map: HeatmapAnswer }) {
  const element = useRef<HTMLDivElement>(null);
  const frame = useSize(element);
  const moved = useMovedTiles();
  const boxes = useMemo(
    () =>
      treemap(
        map.sectors.map((each) => each.weight),
        frame,
      ),
    [map, frame],
  );
  return (
    <div class="heatmap" ref={element} role="group" aria-label={say("heatmap")} onKeyDown={walk}>
      {boxes.map((box, index) => (
        <Sector
          key={map.sectors[index]?.sector}
          box={box}
          sector={map.sectors[index] as HeatmapSector}
          moved={moved}
          first={index === 0}
        />
      ))}
    </div>
  );
}

/** Tiles whose quote changed since the last colouring. */
type Moved = Map<HTMLButtonElement, AnyQuote>;

function useMovedTiles(): Moved {
  const moved = useRef<Moved>(new Map()).current;
  useEffect(() => {
    const colour = () => {
      for (const [button, quote] of moved) show(button, quote.changePercent);
      moved.clear();
    };
    const timer = setInterval(() => live.onNextFlush(colour), COLOURS_EVERY_MS);
    return () => clearInterval(timer);
  }, [moved]);
  return moved;
}

interface Part {
  readonly box: Box;
  readonly moved: Moved;
  readonly first: boolean;
}

function Sector({ box, sector, moved, first }: Part & { readonly sector: HeatmapSector }) {
  const heading = box.h > 3 * HEADING_HEIGHT && box.w > 40 ? HEADING_HEIGHT : 0;
  const boxes = useMemo(() => {
    const inner = { x: 0, y: heading, w: Math.max(0, box.w - 2), h: Math.max(0, box.h - heading - 2) };
    return treemap(
      sector.stocks.map((each) => each.weight),
      inner,
    );
  }, [sector, box, heading]);
  return (
    <section style={boxStyle(box)} aria-label={sector.sector}>
      {heading > 0 && (
        <h3>
          <b>{sector.sector}</b> {box.w > CHANGE_FROM && <span>{percent(sector.changePercent)}</span>}
        </h3>
      )}
      {boxes.map((each, index) => (
        <Tile
          key={sector.stocks[index]?.ticker}
          box={each}
          stock={sector.stocks[index] as HeatmapStock}
          moved={moved}
          first={first && index === 0}
        />
      ))}
    </section>
  );
}

function Tile({ box, stock, moved, first }: Part & { readonly stock: HeatmapStock }) {
  const element = useRef<HTMLButtonElement>(null);
  const visible = useVisible();
  const hasText = box.w > LETTER_WIDTH * stock.ticker.length + 4 && box.h > 13;
  const hasPercent = hasText && box.w > PERCENT_FROM && box.h > 26;
  useLayoutEffect(() => {
    const button = element.current as HTMLButtonElement;
    show(button, stock.changePercent);
    if (!visible) return;
    const end = live.watch("market", stock.ticker, (quote: AnyQuote) => moved.set(button, quote));
    return () => {
      end();
      moved.delete(button);
    };
  }, [stock.ticker, visible, hasPercent]);
  const name = (event: Event) => {
    const quote = live.quote("market", stock.ticker) ?? stock;
    (event.currentTarget as Element).setAttribute(
      "aria-label",
      `${stock.ticker}, ${stock.name}, ${price(quote.price)}, ${percent(quote.changePercent)}`,
    );
  };
  return (
    <button
      type="button"
      ref={element}
      style={boxStyle(box)}
      tabIndex={first ? 0 : -1}
      title={`${stock.ticker} · ${stock.name}`}
      aria-label={hasText ? undefined : `${stock.ticker}, ${stock.name}`}
      data-size={box.w > 90 && box.h > 60 ? "large" : undefined}
      onFocus={hasText ? undefined : name}
      onClick={() => select(instrumentOf("stock", stock.ticker))}
    >
      {hasText && <b>{stock.ticker}</b>}
      {hasPercent && <i />}
    </button>
  );
}

/** Colours a tile and writes its change where there is room; touches only what differs. */
function show(button: HTMLButtonElement, change: number | null): void {
  const heat = String(Math.max(-3, Math.min(3, Math.round((change ?? 0) / STEP_PERCENT))));
  if (button.dataset.heat !== heat) button.dataset.heat = heat;
  const label = button.querySelector("i");
  if (!label) return;
  const text = percent(change, button.dataset.size ? 2 : 1);
  if (label.textContent !== text) label.textContent = text;
}

const boxStyle = (box: Box) => ({ left: `${box.x}px`, top: `${box.y}px`, width: `${box.w}px`, height: `${box.h}px` });

function useSize(element: { current: HTMLElement | null }): Box {
  const [size, setSize] = useState<Box>({ x: 0, y: 0, w: 0, h: 0 });
  useLayoutEffect(() => {
    const frame = element.current as HTMLElement;
    const look = () => setSize({ x: 0, y: 0, w: frame.clientWidth, h: frame.clientHeight });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(frame);
    return () => observer.disconnect();
  }, []);
  return size;
}

/** Moves the focus from tile to tile with the arrow keys; the Tab key stops at the last focused one only. */
function walk(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const tiles = [...(event.currentTarget as Element).querySelectorAll("button")];
  const here = tiles.indexOf(event.target as HTMLButtonElement);
  const next = tiles[here + step];
  if (!next) return;
  event.preventDefault();
  for (const tile of [tiles[here], next]) tile?.setAttribute("tabindex", tile === next ? "0" : "-1");
  next.focus();
}
