import { useEffect, useRef, useState } from "preact/hooks";

import {
  activeWorkspace,
  addWorkspace,
  canAddWorkspace,
  deleteWorkspace,
  nameWorkspace,
  openWorkspace,
  shiftWorkspace,
  workspaces,
} from "./arrangement.ts";
import { nameOf } from "./frame-state.ts";
import { Menu } from "./menu.tsx";
import { nextItem } from "./roving.ts";
import { TEMPLATE_NAMES, TEMPLATES } from "./templates.ts";
import { say } from "./words.ts";
import { LONGEST_NAME, type Workspace } from "./workspaces.ts";

/** Tabs of the workspaces, and the menu of the active one. */
export function Tabs() {
  const [isOpen, setOpen] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const active = activeWorkspace.value;
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [active.id]);
  return (
    <div class="tabs">
      <div ref={list} role="tablist" aria-label={say("workspaces")}>
        {workspaces.value.map((each, index) => (
          <Tab key={each.id} workspace={each} number={index + 1} onMenu={() => setOpen(true)} />
        ))}
      </div>
      <Menu
        key={active.id}
        label={say("workspaceMenu", { name: nameOf(active) })}
        text="⋯"
        isOpen={isOpen}
        setOpen={setOpen}
      >
        <Actions workspace={active} close={() => setOpen(false)} />
      </Menu>
    </div>
  );
}

interface TabProps {
  readonly workspace: Workspace;
  readonly number: number;
  readonly onMenu: () => void;
}

function Tab({ workspace, number, onMenu }: TabProps) {
  const isActive = workspace.id === activeWorkspace.value.id;
  const keys = number < 10 ? `Alt+${number}` : undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    const tabs = [...((event.currentTarget as Element).parentElement?.children ?? [])] as HTMLElement[];
    const next = nextItem(event, tabs);
    const step = event.shiftKey ? { ArrowLeft: -1, ArrowRight: 1 }[event.key] : undefined;
    if (next) next.focus();
    else if (step) shiftWorkspace(workspace.id, step);
    else if (event.key === "Delete") deleteWorkspace(workspace.id);
    else if (event.key === "F2" && isActive) onMenu();
    else return;
    event.preventDefault();
  };
  return (
    <button
      type="button"
      role="tab"
      aria-selected={isActive}
      aria-controls="workspace"
      aria-keyshortcuts={keys}
      tabIndex={isActive ? 0 : -1}
      title={keys}
      onClick={() => openWorkspace(workspace.id)}
      onDblClick={onMenu}
      onKeyDown={onKeyDown}
    >
      {nameOf(workspace)}
    </button>
  );
}

function Actions({ workspace, close }: { readonly workspace: Workspace; readonly close: () => void }) {
  const { id } = workspace;
  const count = workspaces.value.length;
  const at = workspaces.value.findIndex((each) => each.id === id);
  const then = (action: () => void) => () => {
    close();
    action();
  };
  const isFull = !canAddWorkspace();
  const copyName = say("workspaceCopy", { name: nameOf(workspace) });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get("name"));
    close();
    nameWorkspace(id, name);
    document.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]')?.focus();
  };
  return (
    <>
      <form onSubmit={submit}>
        <NameField name={nameOf(workspace)} />
      </form>
      <button type="button" disabled={at === 0} onClick={() => shiftWorkspace(id, -1)}>
        ← {say("moveWorkspaceLeft")}
      </button>
      <button type="button" disabled={at === count - 1} onClick={() => shiftWorkspace(id, 1)}>
        → {say("moveWorkspaceRight")}
      </button>
      <button type="button" disabled={isFull} onClick={then(() => addWorkspace(workspace.panes, copyName))}>
        {say("duplicateWorkspace")}
      </button>
      <button type="button" disabled={count === 1} onClick={then(() => deleteWorkspace(id))}>
        {say("deleteWorkspace")}
      </button>
      <button type="button" disabled={isFull} onClick={then(() => addWorkspace())}>
        + {say("addWorkspace")}
      </button>
      <div class="templates" role="group" aria-label={say("templates")}>
        <p aria-hidden="true">{say("templates")}</p>
        {TEMPLATE_NAMES.map((each) => (
          <button
            key={each}
            type="button"
            disabled={isFull}
            onClick={then(() => addWorkspace(TEMPLATES[each], say(each)))}
          >
            + {say(each)}
          </button>
        ))}
      </div>
    </>
  );
}

/** The field has the focus when the menu opens. */
function NameField({ name }: { readonly name: string }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <input
      ref={field}
      name="name"
      required
      maxLength={LONGEST_NAME}
      defaultValue={name}
      aria-label={say("nameOfWorkspace")}
    />
  );
}
