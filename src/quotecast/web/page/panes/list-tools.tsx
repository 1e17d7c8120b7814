import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { DEFAULT_LIST, DEFAULT_NAME, isFree, LISTS_AT_MOST, NAME_LENGTH, type WatchList } from "../lists.ts";
import { addList, chooseList, currentList, deleted, deleteList, lists, renameList, undoDelete } from "../watchlists.ts";
import { say } from "../words.ts";

const nameOf = ({ id, name }: WatchList): string =>
  id === DEFAULT_LIST && name === DEFAULT_NAME ? say("watchlist") : name;

/** Chooses, adds, renames and deletes lists. */
export function ListTools() {
  const [form, setForm] = useState<"add" | "rename" | null>(null);
  const current = currentList.value;
  const name = nameOf(current);
  const choice = useRef<HTMLSelectElement>(null);
  const wasOpen = useRef(false);
  const close = () => setForm(null);
  // The focus of a closed form would be lost.
  useLayoutEffect(() => {
    if (wasOpen.current && form === null) choice.current?.focus();
    wasOpen.current = form !== null;
  }, [form]);
  const remove = () => {
    choice.current?.focus();
    void deleteList(current.id);
  };
  if (form === "add")
    return (
      <NameForm
        label={say("addList")}
        id={null}
        value={freeName()}
        onSave={(each) => void addList(each)}
        onClose={close}
      />
    );
  if (form === "rename")
    return (
      <NameForm
        label={say("renameList", { list: name })}
        id={current.id}
        value={name}
        onSave={(each) => void renameList(current.id, each)}
        onClose={close}
      />
    );
  const icon = (label: string, text: string, onClick: () => void, disabled = false) => (
    <button type="button" class="icon" aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      {text}
    </button>
  );
  const isFull = lists.value.length >= LISTS_AT_MOST;
  return (
    <>
      <select
        ref={choice}
        aria-label={say("list")}
        value={current.id}
        onChange={(event) => void chooseList((event.currentTarget as HTMLSelectElement).value)}
      >
        {lists.value.map((each) => (
          <option key={each.id} value={each.id}>
            {nameOf(each)}
          </option>
        ))}
      </select>
      <span class="steps">
        {icon(
          isFull ? say("tooManyLists", { count: LISTS_AT_MOST }) : say("addList"),
          "+",
          () => setForm("add"),
          isFull,
        )}
        {icon(say("renameList", { list: name }), "✎", () => setForm("rename"))}
        {current.id !== DEFAULT_LIST && icon(say("deleteList", { list: name }), "−", remove)}
      </span>
    </>
  );
}

/** Offers to bring the deleted list back. */
export function DeletedList() {
  if (!deleted.value) return null;
  return (
    <p class="undo" role="status">
      {say("listDeleted", { list: deleted.value.list.name })}{" "}
      <button type="button" class="small" onClick={() => void undoDelete()}>
        {say("undoDelete")}
      </button>
    </p>
  );
}

function freeName(): string {
  let number = lists.value.length + 1;
  while (!isFree(lists.value, say("newListName", { number }))) number += 1;
  return say("newListName", { number });
}

interface FormProps {
  readonly label: string;
  /** The list that gets the name; null for a new one. */
  readonly id: string | null;
  readonly value: string;
  readonly onSave: (name: string) => void;
  readonly onClose: () => void;
}

function NameForm({ label, id, value, onSave, onClose }: FormProps) {
  const [isTaken, setTaken] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.select(), []);
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get("name")).trim();
    if (!name) return;
    if (!isFree(lists.value, name, id)) return setTaken(true);
    onSave(name);
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onClose();
  };
  return (
    <form class="list-name" aria-label={label} onSubmit={save} onKeyDown={onKeyDown}>
      <input
        name="name"
        aria-label={say("listName")}
        aria-invalid={isTaken}
        maxLength={NAME_LENGTH}
        defaultValue={value}
        required
        ref={field}
      />
      <button type="submit" class="small">
        {say("save")}
      </button>
      <button type="button" class="small" onClick={onClose}>
        {say("cancel")}
      </button>
      {isTaken && <span role="alert">{say("nameTaken")}</span>}
    </form>
  );
}
