/// The style sheet of a report. It has no '<' and no '&', so that the page is XML.
enum ReportStyle {
    static let text = """

        :root {
          color-scheme: light dark;
          --paper: #f6f7f9; --card: #ffffff; --ink: #1f2328; --quiet: #59636e; --rule: #d5dae0;
          --accent: #0757b5; --bar: #3b82d6; --bar-ground: #e8edf3; --warn: #8a4600; --warn-ground: #fff4e0;
          --good: #1a6b34; --target: #fff3b8; --head: #eef1f5;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #0a0d12; --card: #0d1117; --ink: #e6edf3; --quiet: #9aa4af; --rule: #2d343d;
            --accent: #79b8ff; --bar: #4b8fe0; --bar-ground: #1c232c; --warn: #f0b45c; --warn-ground: #2b2111;
            --good: #5fc27e; --target: #4a3d08; --head: #161b22;
          }
        }
        * { box-sizing: border-box; }
        html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
        @media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
        body {
          margin: 0 auto; padding: 0 1.25rem 3rem; max-width: 84rem; background: var(--paper); color: var(--ink);
          font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
        }
        [hidden] { display: none !important; }
        a { color: var(--accent); text-underline-offset: 0.15em; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
        .skip { position: absolute; left: -99rem; top: 0; padding: 0.5rem 1rem; background: var(--card); z-index: 9; }
        .skip:focus { left: 0; }
        .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        header { padding: 2rem 0 0.5rem; }
        .kind { margin: 0; color: var(--quiet); }
        h1 { margin: 0 0 1rem; font-size: 2rem; line-height: 1.2; overflow-wrap: anywhere; }
        h2 { margin: 0 0 0.75rem; font-size: 1.3rem; line-height: 1.3; }
        h3 { display: inline; margin: 0; font-size: 1rem; }
        dl { margin: 0; }
        dt { color: var(--quiet); font-size: 0.85rem; }
        dd { margin: 0; overflow-wrap: anywhere; }
        .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 0.75rem; }
        .figures > div { padding: 0.6rem 1rem; background: var(--card); border: 1px solid var(--rule);
          border-radius: 8px; }
        .figures dd { font-size: 1.5rem; font-weight: 600; line-height: 1.3; }
        .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 0.75rem 1.5rem;
          margin-top: 1.25rem; }
        nav { margin: 1rem 0; }
        nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 0; padding: 0; list-style: none; }
        nav a { display: inline-block; padding: 0.25rem 0; }
        section { margin: 1.25rem 0; padding: 1.25rem; background: var(--card); border: 1px solid var(--rule);
          border-radius: 10px; scroll-margin-top: 1rem; }
        main:focus { outline: none; }
        .good { margin: 0; color: var(--good); }
        .findings { margin: 0; padding: 0.75rem 1rem 0.75rem 2rem; background: var(--warn-ground); border-radius: 8px; }
        .findings li { overflow-wrap: anywhere; }
        .problem { margin: 0.5rem 0; color: var(--warn); }
        .scroll { overflow: auto; max-width: 100%; border: 1px solid var(--rule); border-radius: 8px; }
        .diagram { max-height: 90vh; }
        .diagram svg { display: block; margin: 0 auto; }
        table { border-collapse: collapse; font-size: 0.9rem; }
        th, td { padding: 0.35rem 0.75rem; text-align: left; vertical-align: top; unicode-bidi: plaintext; }
        th { font-weight: 600; }
        thead th { color: var(--quiet); }
        .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .chart { width: 100%; }
        .chart caption { text-align: left; color: var(--quiet); padding-bottom: 0.25rem; }
        .chart th, .chart td { padding: 0.2rem 0.75rem 0.2rem 0; }
        .chart tbody th { font-weight: 400; overflow-wrap: anywhere; }
        .chart thead th:nth-child(2) { text-align: right; }
        .track { width: 60%; vertical-align: middle; }
        .bar { display: block; height: 0.8rem; min-width: 0; border-radius: 0 3px 3px 0; background: var(--bar); }
        .spreads { display: grid; gap: 1.5rem;
          grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); }
        figure { margin: 0; min-width: 0; }
        figcaption { color: var(--quiet); overflow-wrap: anywhere; }
        figcaption h3 { color: var(--ink); }
        .histogram { display: block; width: 100%; height: 7rem; margin-top: 0.5rem; background: var(--bar-ground);
          border-bottom: 2px solid var(--bar); }
        .histogram rect { fill: var(--bar); }
        .axis { display: flex; justify-content: space-between; margin: 0.15rem 0; color: var(--quiet);
          font-size: 0.85rem; }
        .numbers { font-size: 0.85rem; }
        summary { cursor: pointer; }
        .search { position: sticky; top: 0; z-index: 3; display: flex; flex-wrap: wrap; align-items: center;
          gap: 0.25rem 0.75rem; padding: 0.5rem 0; background: var(--card); }
        .search label { font-weight: 600; }
        .search input { flex: 1 1 14rem; max-width: 30rem; padding: 0.5rem 0.75rem; font: inherit; color: inherit;
          background: var(--paper); border: 1px solid var(--quiet); border-radius: 6px; }
        .search p { margin: 0; color: var(--quiet); }
        .entity { margin-top: 1rem; scroll-margin-top: 4.5rem; }
        .entity > summary { padding: 0.4rem 0; }
        .count { color: var(--quiet); font-size: 0.9rem; }
        .entity > .scroll { max-height: 75vh; }
        .objects { width: max-content; min-width: 100%; }
        .objects .list { min-width: 14rem; }
        .objects thead th { position: sticky; top: 0; z-index: 2; background: var(--head); white-space: nowrap; }
        .objects tbody tr { border-top: 1px solid var(--rule); scroll-margin: 4.5rem; }
        .objects tbody th { font-weight: 400; white-space: nowrap; }
        @media (min-width: 40rem) {
          .objects tbody th { position: sticky; left: 0; z-index: 1; background: var(--card); }
          .objects thead th:first-child { left: 0; z-index: 3; }
        }
        .objects td { max-width: 26rem; overflow-wrap: break-word; white-space: pre-line; }
        .objects tr:focus { outline: none; }
        .objects tr:target > *, .objects tr:focus > * { background: var(--target); }
        .type { display: block; font-weight: 400; font-size: 0.8rem; }
        .date, .bytes { white-space: nowrap; }
        .none, .bytes { color: var(--quiet); }
        .members { display: inline-block; padding: 0 0.45em; background: var(--bar-ground); border-radius: 1em;
          font-variant-numeric: tabular-nums; }
        .text[open] { max-height: 24rem; overflow: auto; }
        .text[open] > summary { color: var(--quiet); }
        code { font: 0.85rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        img { display: block; max-width: 9rem; max-height: 7rem; border: 1px solid var(--rule); border-radius: 4px; }
        footer { color: var(--quiet); font-size: 0.85rem; }
        @media (max-width: 40rem) {
          body { padding: 0 0.75rem 2rem; }
          header { padding-top: 1rem; }
          h1 { font-size: 1.5rem; }
          section { padding: 0.9rem 0.75rem; }
          .track { width: 40%; }
          .figures { grid-template-columns: 1fr 1fr; }
        }

        """
}
