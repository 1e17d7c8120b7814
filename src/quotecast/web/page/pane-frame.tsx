import type { ComponentType } from "preact";
import { useState } from "preact/hooks";

import { closePane, detachPane, openTab, remember } from "./arrangement.ts";
import { Boundary } from "./boundary.tsx";
import { announcement, moving, titleOf, toggleMaximised } from "./frame-state.ts";
import { isShown, type Place } from "./layout.ts";
import { acceptKeys, CONTROLS, type Handle, moveByKey, moveByPointer } from "./moves.ts";
import { notice } from "./notices.tsx";
import { Heading, InView, type Memory } from "./pane.tsx";
import { openPopOut, popOut } from "./pop-out.ts";
import { hasPast, isReplay } from "./replay-state.ts";
import { nextItem, rove } from "./roving.ts";
import { LINKS, Link, type LinkName, linkOf, storeChoices } from "./selection.ts";
import { say } from "./words.ts";

/** The tracks of the grid that a pane takes. */
export interface Extent {
  readonly gridColumn?: string;
  readonly gridRow?: string;
}

interface Props {
  /** Id of the pane's workspace: a choice may come after the reader has left it. */
  readonly workspace: string;
  readonly place: Place;
  readonly content: ComponentType<Memory>;
  readonly extent: Extent;
  /** Height of a row of the grid, in pixels. */
  readonly row: number;
  /** The panes in the same place, with this one. */
  readonly tabs: readonly Place[];
  /** Whether the pane fills the workspace. */
  readonly isMaximised: boolean;
}

const RESIZERS = ["resizeWidth", "resizeHeight", "resize"] as const;

/** A pane with its header and the handles to move and resize it; one behind another is hidden, and does no work. */
export function PaneFrame({ workspace, place, content: Content, extent, row, tabs, isMaximised }: Props) {
  const title = titleOf(place);
  const [heading, setHeading] = useState<HTMLElement | null>(null);
  const isPast = isReplay.value && hasPast(place.kind);
  const drag =
    (handle: Handle, moved = place) =>
    (event: PointerEvent) => {
      event.stopPropagation();
      if (!isMaximised && matchMedia("(min-width: 1024px)").matches) moveByPointer(event, moved, row, handle);
    };
  const onDblClick = (event: MouseEvent) => {
    if (!(event.target as Element).closest(CONTROLS)) toggleMaximised(place);
  };
  return (
    <section
      class="pane"
      data-kind={place.kind}
      data-pane={place.id}
      data-moving={moving.value?.id === place.id || undefined}
      data-maximised={isMaximised || undefined}
      id={`pane-${place.id}`}
      role={tabs.length > 1 ? "tabpanel" : undefined}
      aria-label={title}
      tabIndex={-1}
      hidden={!isShown(place) && !isMaximised}
      // Without tracks of the grid it is placed in the whole workspace.
      style={isMaximised ? {} : { ...extent }}
    >
      <header {...{ onPointerDown: drag("move"), onDblClick }}>
        {tabs.length > 1 ? (
          <PaneTabs tabs={tabs} shown={place} onPointerDown={(tab) => drag("tab", tab)} />
        ) : (
          <h2>{title}</h2>
        )}
        {isPast && <mark>{say("replayMark")}</mark>}
        <div class="tools" ref={setHeading} />
        <Grip place={place} title={title} />
        {!popOut && (
          <Buttons
            place={place}
            title={title}
            isTab={tabs.length > 1}
            isMaximised={isMaximised}
            onPopOut={() => {
              storeChoices();
              if (!openPopOut(place.id, workspace)) notice.value = say("popUpBlocked", { pane: title });
            }}
          />
        )}
      </header>
      {isReplay.value && !isPast && (
        <p class="quiet present" role="status">
          {say("noPast")}
        </p>
      )}
      <InView isHidden={isReplay.value && !isPast}>
        <Boundary>
          <Heading.Provider value={heading}>
            <Link.Provider value={linkOf(place.memory)}>
              <Content memory={place.memory ?? {}} remember={(memory) => remember(place.id, memory, workspace)} />
            </Link.Provider>
          </Heading.Provider>
        </Boundary>
      </InView>
      {RESIZERS.map((handle) => (
        <div
          key={handle}
          class="resizer"
          data-handle={handle}
          aria-hidden="true"
          title={say("resizePane", { pane: title })}
          onPointerDown={drag(handle)}
        />
      ))}
    </section>
  );
}

interface TabsProps {
  readonly tabs: readonly Place[];
  readonly shown: Place;
  readonly onPointerDown: (tab: Place) => (event: PointerEvent) => void;
}

/** The panes of one place, in its heading: an arrow shows the next one. */
function PaneTabs({ tabs, shown, onPointerDown }: TabsProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextItem(event, [...(event.currentTarget as Element).children] as HTMLElement[]);
    if (!next) return;
    event.preventDefault();
    next.click();
  };
  return (
    <div role="tablist" aria-label={tabs.map(titleOf).join(", ")} onKeyDown={onKeyDown}>
      {tabs.map((each) => (
        <button
          key={each.id}
          type="button"
          role="tab"
          aria-selected={each.id === shown.id}
          aria-controls={`pane-${each.id}`}
          tabIndex={each.id === shown.id ? 0 : -1}
          onPointerDown={onPointerDown(each)}
          onClick={() => openTab(each.id, "tab")}
        >
          {titleOf(each)}
        </button>
      ))}
    </div>
  );
}

interface Named {
  readonly place: Place;
  readonly title: string;
}

const GRIP_KEYS = ["", "Shift+", "Alt+"]
  .flatMap((each) => ["Left", "Right", "Up", "Down"].map((way) => `${each}Arrow${way}`))
  .join(" ");

function Grip({ place, title }: Named) {
  const label = say("movePane", { pane: title });
  return (
    <button
      type="button"
      class="icon grip"
      aria-label={label}
      title={label}
      aria-keyshortcuts={GRIP_KEYS}
      onKeyDown={(event) => moveByKey(event, place.id)}
      onBlur={acceptKeys}
    >
      ⠿
    </button>
  );
}

interface ButtonsProps extends Named, Record<"isTab" | "isMaximised", boolean> {
  readonly onPopOut: () => void;
}

/** Buttons of a pane: one stop of the Tab key, with the arrows inside. */
function Buttons({ place, title, isTab, isMaximised, onPopOut }: ButtonsProps) {
  const fill = say(isMaximised ? "restorePane" : "maximisePane", { pane: title });
  return (
    <div class="buttons" role="toolbar" aria-label={say("paneButtons", { pane: title })} onKeyDown={rove}>
      <LinkButton place={place} title={title} />
      <button type="button" class="icon" aria-label={fill} title={fill} onClick={() => toggleMaximised(place)}>
        {isMaximised ? "⤡" : "⤢"}
      </button>
      {isTab && <IconButton label={say("detachPane", { pane: title })} text="◫" onClick={() => detachPane(place.id)} />}
      <IconButton name="pop-out" label={say("popOutPane", { pane: title })} text="❐" onClick={onPopOut} />
      <IconButton label={say("closePane", { pane: title })} text="×" onClick={() => closePane(place.id)} />
    </div>
  );
}

/** Takes the pane from one link to the next; panes of a link share an instrument of their own. */
function LinkButton({ place, title }: Named) {
  const link = linkOf(place.memory);
  const labelOf = (each: LinkName | null) => say("linkOf", { pane: title, link: each ?? say("linkNone") });
  const label = labelOf(link);
  const next = LINKS[link ? LINKS.indexOf(link) + 1 : 0] ?? null;
  return (
    <button
      type="button"
      class="icon link"
      tabIndex={-1}
      data-link={link ?? undefined}
      aria-label={label}
      title={label}
      onClick={() => {
        remember(place.id, { link: next ?? "" });
        announcement.value = labelOf(next);
      }}
    >
      <span>{link ?? ""}</span>
    </button>
  );
}

interface IconButtonProps {
  readonly name?: string;
  readonly label: string;
  readonly text: string;
  readonly onClick: () => void;
}

/** A button of the toolbar after the first, which arrows reach. */
function IconButton({ name = "", label, text, onClick }: IconButtonProps) {
  return (
    <button type="button" class={`icon ${name}`} tabIndex={-1} aria-label={label} title={label} onClick={onClick}>
      {text}
    </button>
  );
}
