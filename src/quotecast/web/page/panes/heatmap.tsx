import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Heatmap as HeatmapAnswer, HeatmapSector, HeatmapStock } from "quotecast-client";
import { percent, price } from "../formats.ts";
import { instrumentOf } from "../instruments.ts";
import type { AnyQuote } from "../live.ts";
import { AnswerView, Choice, type Memory, useVisible } from "../pane.tsx";
import { nearest } from "../row-moves.ts";
import { select } from "../selection.ts";
import { live, rest, useAnswer } from "../service.ts";
import { focusOn, requireTabStop } from "../tab-stop.ts";
import { say } from "../words.ts";
import { type Box, treemap } from "./treemap.ts";

/** Weights hardly move: the page loads them once a minute, and the colours follow the feed. */
const EVERY_MS = 60_000;
/** Colours are coarse: five hundred tiles need no update at every tick. */
const COLOURS_EVERY_MS = 1000;
/** Pixels of a tile that has room for a sign. */
const LEAST_WITH_SIGN = 14;
/** The least size of a target. */
const HEADING_HEIGHT = 24;
/** Per cent of change per step of colour; there are three steps either way. */
const STEP_PERCENT = 0.75;
const [LETTER_WIDTH, PERCENT_FROM] = [7.2, 38];
/** Width in pixels from which a sector's heading shows its change. */
const CHANGE_FROM = 64;

/** Red and green, or colours that the colour-blind tell apart. */
const PALETTES = ["redGreen", "blueOrange"] as const;

export function Heatmap({ memory, remember }: Memory) {
  const answer = useAnswer(() => rest.call("GET /api/market/heatmap"), "heatmap", {
    everyMs: EVERY_MS,
    active: useVisible(),
  });
  const palette = PALETTES.find((each) => each === memory.palette) ?? "redGreen";
  return (
    <AnswerView answer={answer}>
      {(map) => (
        <div class="heat" data-palette={palette}>
          <Sectors map={map} />
          <div class="tools">
            <Legend />
            <Choice
              label={say("palette")}
              options={PALETTES}
              value={palette}
              text={(each) => say(each)}
              onChoose={(each) => remember({ palette: each })}
            />
          </div>
        </div>
      )}
    </AnswerView>
  );
}

const STEPS = [-3, -2, -1, 0, 1, 2, 3] as const;

/** The colours with the changes in percent from which on they count. */
function Legend() {
  return (
    <ul class="legend" aria-label={say("legend")}>
      {STEPS.map((step) => (
        <li key={step} data-heat={step}>
          {percent(step * STEP_PERCENT, step % 2 ? 2 : 1)}
        </li>
      ))}
    </ul>
  );
}

function Sectors({ map }: { readonly map: HeatmapAnswer }) {
  const element = useRef<HTMLDivElement>(null);
  const frame = useSize(element);
  const moved = useMovedTiles();
  const [zoomed, setZoomed] = useState<string | null>(null);
  const sectors = useMemo(() => {
    const only = map.sectors.filter((each) => each.sector === zoomed);
    return only.length ? only : map.sectors;
  }, [map, zoomed]);
  const boxes = useMemo(
    () =>
      treemap(
        sectors.map((each) => each.weight),
        frame,
      ),
    [sectors, frame],
  );
  useLayoutEffect(() => requireTabStop(element.current, ".tile"));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && zoomed !== null) {
      event.stopPropagation();
      const heading = element.current?.querySelector<HTMLElement>("h3 button");
      if (heading) focusOn(heading, event.currentTarget as Element);
      setZoomed(null);
    } else walk(event);
  };
  return (
    <div class="heatmap" ref={element} role="group" aria-label={say("heatmap")} onKeyDown={onKeyDown}>
      {boxes.map((box, index) => {
        const sector = sectors[index] as HeatmapSector;
        const isZoomed = sector.sector === zoomed;
        return (
          <Sector
            key={sector.sector}
            box={box}
            sector={sector}
            moved={moved}
            isZoomed={isZoomed}
            onZoom={() => setZoomed(isZoomed ? null : sector.sector)}
          />
        );
      })}
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
}

interface SectorPart extends Part {
  readonly sector: HeatmapSector;
  readonly isZoomed: boolean;
  readonly onZoom: () => void;
}

function Sector({ box, sector, moved, isZoomed, onZoom }: SectorPart) {
  const heading = isZoomed || (box.h > 3 * HEADING_HEIGHT && box.w > 40) ? HEADING_HEIGHT : 0;
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
          <button
            type="button"
            tabIndex={-1}
            aria-expanded={isZoomed}
            title={say(isZoomed ? "zoomOut" : "zoomIn", { sector: sector.sector })}
            onClick={onZoom}
          >
            {isZoomed && "← "}
            <b>{sector.sector}</b> {box.w > CHANGE_FROM && <span>{percent(sector.changePercent)}</span>}
          </button>
        </h3>
      )}
      {boxes.map((each, index) => (
        <Tile
          key={sector.stocks[index]?.ticker}
          box={each}
          stock={sector.stocks[index] as HeatmapStock}
          moved={moved}
        />
      ))}
    </section>
  );
}

function Tile({ box, stock, moved }: Part & { readonly stock: HeatmapStock }) {
  const element = useRef<HTMLButtonElement>(null);
  const visible = useVisible();
  const letters = stock.ticker.length;
  const sign = box.w > LETTER_WIDTH * (letters + 1) + 2 ? "beside" : "below";
  const hasText = box.w > LETTER_WIDTH * letters + 4 && box.h > (sign === "beside" ? 13 : 25);
  const hasPercent = hasText && box.w > PERCENT_FROM && box.h > 26;
  const hasSign = !hasPercent && box.w >= LEAST_WITH_SIGN && box.h >= LEAST_WITH_SIGN;
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
      class="tile"
      ref={element}
      style={boxStyle(box)}
      tabIndex={-1}
      title={`${stock.ticker} · ${stock.name}`}
      aria-label={hasText ? undefined : `${stock.ticker}, ${stock.name}`}
      data-bare={hasSign ? sign : undefined}
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

/** Moves the focus to the next tile or heading in the direction of an arrow key. */
function walk(event: KeyboardEvent): void {
  const buttons = [...(event.currentTarget as Element).querySelectorAll("button")];
  const areas = buttons.map((each) => each.getBoundingClientRect());
  const here = buttons.indexOf(event.target as HTMLButtonElement);
  const index = { Home: 0, End: buttons.length - 1 }[event.key] ?? nearest(event.key, areas[here] as DOMRect, areas);
  const next = index === null ? undefined : buttons[index];
  if (!next) return;
  event.preventDefault();
  focusOn(next, event.currentTarget as Element);
}
