import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Heatmap as HeatmapAnswer, HeatmapSector, HeatmapStock } from "quotecast-client";
import { compact, percent, quotedPrice, tone } from "../formats.ts";
import { instrumentOf } from "../instruments.ts";
import type { AnyQuote } from "../live.ts";
import { sectorName } from "../names.ts";
import { AnswerView, Choice, type Memory, useVisible } from "../pane.tsx";
import { useQuotes } from "../quotes.ts";
import { isReplay } from "../replay-state.ts";
import { nearest } from "../row-moves.ts";
import { useSelect } from "../selection.ts";
import { live, rest, useAnswer } from "../service.ts";
import { focusOn, requireTabStop } from "../tab-stop.ts";
import { say } from "../words.ts";
import { changeOf, countOf, fitStocks, roomOf } from "./sector-tiles.ts";
import { type Box, treemap } from "./treemap.ts";

/** Weights hardly move: the page loads them once a minute, and the colours follow the feed. */
const EVERY_MS = 60_000;
/** Colours are coarse: five hundred tiles need no update at every tick. */
const COLOURS_EVERY_MS = 1000;
/** Stocks of a sector that have a tile, beside the others and alone. */
const [MOST_OF_MANY, MOST_ALONE] = [12, 60];
/** The least size of a target. */
const HEADING_HEIGHT = 24;
/** Per cent of change per step of colour; there are three steps either way. */
const STEP_PERCENT = 0.75;
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
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const hover = (tile: HTMLElement | null, stock: HeatmapStock) => {
    const [map, box] = [element.current?.getBoundingClientRect(), tile?.getBoundingClientRect()];
    if (!map || !box) return setHovered((before) => (before?.stock === stock ? null : before));
    const middle = (from: number, length: number, edge: number, whole: number) => (from + length / 2 - edge) / whole;
    const x = middle(box.left, box.width, map.left, map.width);
    setHovered({ stock, x, y: middle(box.top, box.height, map.top, map.height) });
  };
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
            onHover={hover}
            onZoom={() => setZoomed(isZoomed ? null : sector.sector)}
          />
        );
      })}
      {hovered && <Card {...hovered} />}
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

let ruler: CanvasRenderingContext2D | undefined;

/** Returns the width in pixels of a text in the font of tiles' names, which differs by system. */
function nameWidth(text: string): number {
  if (!ruler) {
    ruler = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
    ruler.font = `bold 10px ${getComputedStyle(document.body).fontFamily}`;
  }
  return ruler.measureText(text).width;
}

interface Part {
  readonly box: Box;
  readonly moved: Moved;
}

interface SectorPart extends Part {
  readonly sector: HeatmapSector;
  readonly isZoomed: boolean;
  readonly onHover: TilePart["onHover"];
  readonly onZoom: () => void;
}

function Sector({ box, sector, moved, isZoomed, onHover, onZoom }: SectorPart) {
  const heading = isZoomed || (box.h > 3 * HEADING_HEIGHT && box.w > 40) ? HEADING_HEIGHT : 0;
  const name = sectorName(sector.sector);
  const { boxes, others } = useMemo(() => {
    const inner = { x: 0, y: heading, w: Math.max(0, box.w - 2), h: Math.max(0, box.h - heading - 2) };
    return fitStocks(sector.stocks, inner, isZoomed ? MOST_ALONE : MOST_OF_MANY, nameWidth);
  }, [sector, box, heading, isZoomed]);
  const named = sector.stocks.slice(0, sector.stocks.length - others.length);
  return (
    <section style={boxStyle(box)} aria-label={name}>
      {heading > 0 && (
        <h3>
          <button
            type="button"
            tabIndex={-1}
            aria-expanded={isZoomed}
            title={say(isZoomed ? "zoomOut" : "zoomIn", { sector: name })}
            onClick={onZoom}
          >
            {isZoomed && "← "}
            <b>{name}</b> {box.w > CHANGE_FROM && <span>{isReplay.value ? "" : percent(sector.changePercent)}</span>}
          </button>
        </h3>
      )}
      {named.map((stock, index) => (
        <Tile key={stock.ticker} box={boxes[index] as Box} stock={stock} moved={moved} onHover={onHover} />
      ))}
      {others.length > 0 && (
        <button
          type="button"
          class="tile others"
          style={boxStyle(boxes.at(-1) as Box)}
          tabIndex={-1}
          title={say("othersOf", { count: others.length, sector: name })}
          data-heat={heatOf(isReplay.value ? null : changeOf(others))}
          disabled={isZoomed}
          onClick={onZoom}
        >
          <b>{named.length ? countOf(others) : name}</b>
        </button>
      )}
    </section>
  );
}

interface TilePart extends Part {
  readonly stock: HeatmapStock;
  readonly onHover: (tile: HTMLElement | null, stock: HeatmapStock) => void;
}

function Tile({ box, stock, moved, onHover }: TilePart) {
  const element = useRef<HTMLButtonElement>(null);
  const visible = useVisible();
  const room = roomOf(box, stock.ticker, nameWidth);
  useLayoutEffect(() => {
    const button = element.current as HTMLButtonElement;
    show(button, isReplay.value ? null : stock.changePercent);
    if (!visible) return;
    const end = live.watch("market", stock.ticker, (quote: AnyQuote) => moved.set(button, quote));
    return () => {
      end();
      moved.delete(button);
    };
  }, [stock.ticker, visible, room, isReplay.value]);
  // Read aloud once: a description that followed the price would be read at every tick.
  const describe = (tile: HTMLElement) => {
    const quote = live.quote("market", stock.ticker);
    const values = [quotedPrice(stock.ticker, quote?.price), percent(quote?.changePercent)];
    tile.setAttribute("aria-description", [stock.name, ...values].join(", "));
  };
  const select = useSelect();
  return (
    <button
      type="button"
      class="tile"
      ref={element}
      style={boxStyle(box)}
      tabIndex={-1}
      data-bare={room === "change" ? undefined : room}
      data-size={box.w > 90 && box.h > 60 ? "large" : undefined}
      onPointerEnter={(event) => onHover(event.currentTarget, stock)}
      onPointerLeave={() => onHover(null, stock)}
      onFocus={(event) => {
        describe(event.currentTarget);
        onHover(event.currentTarget, stock);
      }}
      onBlur={() => onHover(null, stock)}
      onClick={() => select(instrumentOf("stock", stock.ticker))}
    >
      <b>{stock.ticker}</b>
      {room === "change" && <i />}
    </button>
  );
}

interface Hovered {
  readonly stock: HeatmapStock;
  /** Middle of the tile, as shares of the map. */
  readonly x: number;
  readonly y: number;
}

/** The facts about the tile under the pointer or with the focus, on the other side of the map's middle. */
function Card({ stock, x, y }: Hovered) {
  const [quote] = useQuotes([instrumentOf("stock", stock.ticker)], true);
  const change = quote?.changePercent ?? null;
  const side = { [x < 0.5 ? "right" : "left"]: "4px", [y < 0.5 ? "bottom" : "top"]: "4px" };
  return (
    <div class="card" style={side} aria-hidden="true">
      <b>{stock.ticker}</b> {stock.name}
      <p>
        <strong>{quotedPrice(stock.ticker, quote?.price)}</strong>{" "}
        <span data-tone={tone(change)}>{percent(change)}</span>
      </p>
      {quote && "volume" in quote && (
        <p>
          {say("volume")} {compact(quote.volume)}
        </p>
      )}
    </div>
  );
}

/** Colours a tile and writes its change where there is room; touches only what differs. */
function show(button: HTMLButtonElement, change: number | null): void {
  const heat = heatOf(change);
  if (button.dataset.heat !== heat) button.dataset.heat = heat;
  const label = button.querySelector("i");
  if (!label) return;
  const text = percent(change, button.dataset.size ? 2 : 1);
  if (label.textContent !== text) label.textContent = text;
}

/** Returns the step of colour of a change in percent. */
const heatOf = (change: number | null) => String(Math.max(-3, Math.min(3, Math.round((change ?? 0) / STEP_PERCENT))));

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
