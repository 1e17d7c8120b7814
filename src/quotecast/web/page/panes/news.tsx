import { useLayoutEffect, useRef } from "preact/hooks";

import type { Article } from "quotecast-client";
import { dateAndTime } from "../formats.ts";
import { instrumentOf } from "../instruments.ts";
import { AnswerView, Choice, type Memory, Tools, useVisible } from "../pane.tsx";
import { useSelect, useSelection } from "../selection.ts";
import { rest, useAnswer } from "../service.ts";
import { requireTabStop, walkItems } from "../tab-stop.ts";
import { say } from "../words.ts";

const EVERY_MS = 30_000;
const SUBJECTS = ["all", "selected"] as const;

export function News({ memory, remember }: Memory) {
  const [{ feed, key }] = useSelection();
  // Articles are about stocks only.
  const stock = feed === "market" ? key : null;
  const subject = memory.about === "selected" && stock !== null ? "selected" : "all";
  const symbols = subject === "selected" ? stock : null;
  const ask = () => rest.call("GET /api/market/news", symbols === null ? {} : { query: { symbols } });
  const answer = useAnswer(ask, `news ${symbols}`, { everyMs: EVERY_MS, active: useVisible() });
  return (
    <>
      <Tools>
        <Choice
          label={say("newsOf")}
          options={SUBJECTS}
          value={subject}
          text={(each) => (each === "all" ? say("allNews") : (stock ?? key))}
          disabled={(each) => each === "selected" && stock === null}
          onChoose={(about) => remember({ about })}
        />
      </Tools>
      <AnswerView answer={answer}>
        {(articles) =>
          articles.length ? (
            <Articles articles={articles} />
          ) : (
            <p class="quiet">{symbols === null ? say("emptyNews") : say("emptyNewsOf", { symbol: symbols })}</p>
          )
        }
      </AnswerView>
    </>
  );
}

function Articles({ articles }: { readonly articles: readonly Article[] }) {
  const element = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => requireTabStop(element.current));
  return (
    <ul
      class="news"
      ref={element}
      tabIndex={articles.some((each) => each.url || each.symbols.length) ? undefined : 0}
      aria-label={say("news")}
      onKeyDown={(event) => walkItems(event, "li")}
    >
      {articles.map((article) => (
        <Item key={article.id} article={article} />
      ))}
    </ul>
  );
}

function Item({ article }: { readonly article: Article }) {
  const select = useSelect();
  return (
    <li>
      <h3>
        {article.url ? (
          <a href={article.url} tabIndex={-1} target="_blank" rel="noopener noreferrer">
            {article.headline}
          </a>
        ) : (
          article.headline
        )}
      </h3>
      <p>
        <time dateTime={article.created_at}>{dateAndTime(article.created_at)}</time> <span>{article.source}</span>
        {article.symbols.slice(0, 4).map((symbol) => (
          <button
            type="button"
            key={symbol}
            class="tag"
            tabIndex={-1}
            onClick={() => select(instrumentOf("stock", symbol))}
          >
            {symbol}
          </button>
        ))}
      </p>
    </li>
  );
}
