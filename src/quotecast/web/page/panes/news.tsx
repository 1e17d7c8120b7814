import type { Article } from "../../client/index.ts";
import { time } from "../formats.ts";
import { instrumentOf } from "../instruments.ts";
import { AnswerView, useVisible } from "../pane.tsx";
import { select } from "../selection.ts";
import { rest, useAnswer } from "../service.ts";
import { say } from "../words.ts";

const EVERY_MS = 30_000;

export function News() {
  const answer = useAnswer(() => rest.call("GET /api/market/news"), "news", {
    everyMs: EVERY_MS,
    active: useVisible(),
  });
  return (
    <AnswerView answer={answer}>
      {(articles) =>
        articles.length ? (
          <ul class="news" tabIndex={0} aria-label={say("news")}>
            {articles.map((article) => (
              <Item key={article.id} article={article} />
            ))}
          </ul>
        ) : (
          <p class="quiet">{say("emptyNews")}</p>
        )
      }
    </AnswerView>
  );
}

function Item({ article }: { readonly article: Article }) {
  return (
    <li>
      <h3>
        {article.url ? (
          <a href={article.url} target="_blank" rel="noopener noreferrer">
            {article.headline}
          </a>
        ) : (
          article.headline
        )}
      </h3>
      <p>
        <time dateTime={article.created_at}>{time(article.created_at)}</time> <span>{article.source}</span>
        {article.symbols.slice(0, 4).map((symbol) => (
          <button type="button" key={symbol} class="tag" onClick={() => select(instrumentOf("stock", symbol))}>
            {symbol}
          </button>
        ))}
      </p>
    </li>
  );
}
