import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { settled } from "./address.ts";
import { activeWorkspace, addPane, places, workspaces } from "./arrangement.ts";
import { useFocusTarget, useRestoredFocus } from "./focus.ts";
import { listenForKeys } from "./frame-keys.ts";
import { announcement, maximised, moving, nameOf, onTop, titleOf } from "./frame-state.ts";
import { tabsOf } from "./groups.ts";
import { foldPlaces, inOrder, isShown, type Kind, type Place } from "./layout.ts";
import { lazy } from "./lazy.tsx";
import type { Memory } from "./pane.tsx";
import { PaneBar, paneOnTop } from "./pane-bar.tsx";
import { type Extent, PaneFrame } from "./pane-frame.tsx";
import { Chart } from "./panes/chart.tsx";
import { Crypto } from "./panes/crypto.tsx";
import { Doviz } from "./panes/doviz.tsx";
import { Heatmap } from "./panes/heatmap.tsx";
import { Movers } from "./panes/movers.tsx";
import { News } from "./panes/news.tsx";
import { Watchlist } from "./panes/watchlist.tsx";
import type { popOut } from "./pop-out.ts";
import { lastChoice, linkOf } from "./selection.ts";
import { explain } from "./service.ts";
import { type Shape, useRowHeight, useShape } from "./shape.ts";
import { UndoNotice } from "./undo-notice.tsx";
import { say } from "./words.ts";

const CONTENTS: Record<Kind, ComponentType<Memory>> = {
  watchlist: Watchlist,
  chart: Chart,
  heatmap: Heatmap,
  movers: Movers,
  news: News,
  crypto: Crypto,
  doviz: Doviz,
  // Panes below the first screen: the page starts without their code.
  company: lazy(async () => (await import("./panes/later.ts")).Company),
  portfolio: lazy(async () => (await import("./panes/portfolio.tsx")).Portfolio),
  earnings: lazy(async () => (await import("./panes/later.ts")).Earnings),
  alerts: lazy(async () => (await import("./panes/alerts.tsx")).Alerts),
  screener: lazy(async () => (await import("./panes/later.ts")).Screener),
};

/** Rows of a pane on a tablet. */
const TABLET_ROWS = 12;

export function Workspace() {
  const element = useRef<HTMLElement>(null);
  const shape = useShape();
  const row = useRowHeight(element, shape);
  const workspace = activeWorkspace.value;
  useEffect(listenForKeys, []);
  useRestoredFocus(element);
  useFocusTarget(element);
  const isPhone = shape === "stack";
  const shown = isPhone ? paneOnTop()?.id : maximised.value;
  useChartOfSelected(isPhone);
  return (
    <>
      <main
        ref={element}
        id="workspace"
        class="workspace"
        tabIndex={-1}
        data-shape={shape}
        data-maximised={(shown ?? null) !== null || undefined}
        aria-label={`${say("workspace")}: ${nameOf(workspace)}`}
        style={{ gridAutoRows: `${row}px` }}
      >
        {arrange(shape).map(({ place, extent }) => (
          <PaneFrame
            key={`${workspace.id} ${place.id}`}
            workspace={workspace.id}
            place={place}
            content={CONTENTS[place.kind]}
            extent={extent}
            row={row}
            tabs={tabsOf(places.value, place.id)}
            isMaximised={place.id === shown}
          />
        ))}
        {!places.value.length && <Empty />}
      </main>
      <p class={moving.value ? "announcement" : "unseen"} role="status">
        {announcement.value}
      </p>
      <UndoNotice />
      {isPhone && <PaneBar />}
    </>
  );
}

/** The only pane of a pop-out. */
export function PoppedPane({ pane, workspace }: NonNullable<typeof popOut>) {
  const panes = workspaces.value.find((each) => each.id === workspace)?.panes;
  const place = panes?.find((each) => each.id === pane);
  const title = place ? titleOf(place) : whyNoPane();
  useEffect(() => {
    document.title = `${title} · quotecast`;
  }, [title]);
  return (
    <main class="workspace" data-popped>
      {place ? (
        <PaneFrame
          workspace={workspace}
          place={place}
          content={CONTENTS[place.kind]}
          extent={{}}
          row={0}
          tabs={[]}
          isMaximised
        />
      ) : (
        <p class="quiet empty" role="status">
          {title}
        </p>
      )}
    </main>
  );
}

function whyNoPane(): string {
  if (!settled.value) return say("loading");
  return settled.value.failure === null ? say("paneGone") : explain(settled.value.failure);
}

/** On a phone a chosen instrument brings up the chart of its link. */
function useChartOfSelected(isPhone: boolean): void {
  const choice = lastChoice.value;
  const before = useRef(choice);
  useEffect(() => {
    if (before.current === choice) return;
    before.current = choice;
    const isOfLink = ({ kind, memory }: Place) => kind === "chart" && linkOf(memory) === choice.link;
    const chart = inOrder(places.value).find(isOfLink);
    if (isPhone && chart) onTop.value = chart.id;
  }, [choice]);
}

function Empty() {
  return (
    <p class="quiet empty">
      {say("noPanes")}{" "}
      <button type="button" onClick={() => addPane("watchlist")}>
        {say("addPane")}: {say("watchlist")}
      </button>
    </p>
  );
}

/** Returns the panes in reading order; while one moves, in the order before: a moved element would lose the focus. */
function arrange(shape: Shape): { place: Place; extent: Extent }[] {
  if (shape === "columns") {
    const folded = foldPlaces(places.value.filter(isShown)).map(({ place, columns }) => ({
      place,
      extent: { gridColumn: `span ${columns}`, gridRow: `span ${TABLET_ROWS}` },
    }));
    return [...folded, ...places.value.filter(({ behind }) => behind).map((place) => ({ place, extent: {} }))];
  }
  const now = new Map(places.value.map((each) => [each.id, each]));
  return inOrder(moving.value?.before ?? places.value)
    .map((each) => now.get(each.id) ?? each)
    .map((place) => ({ place, extent: shape === "grid" ? span(place) : {} }));
}

const span = ({ x, y, w, h }: Place): Extent => ({
  gridColumn: `${x + 1} / span ${w}`,
  gridRow: `${y + 1} / span ${h}`,
});
