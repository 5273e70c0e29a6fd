/// The script of a report: the search, and links into closed parts of the page.
///
/// It has no '<' and no '&', so that the page is XML, and reads the page's texts only as texts.
enum ReportScript {
    /// The SHA-256 of the script, by which the page's policy allows it.
    static let hash = "sha256-St0NgGybmgPDClyZSLJz/gCldooDQWu5903t63tq65U="

    static let text = """

        (function () {
          'use strict';
          const field = document.getElementById('search');
          const status = document.getElementById('matches');
          const entities = Array.from(document.querySelectorAll('details.entity'), function (element) {
            const rows = Array.from(element.querySelectorAll('table.objects > tbody > tr'));
            return { element: element, rows: rows, texts: null, wasOpen: element.open };
          });
          let isSearching = false;

          function text(row) {
            return row.textContent.toLowerCase();
          }

          function counted(count, one, many) {
            return count + ' ' + (count === 1 ? one : many);
          }

          function search() {
            const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
            const starts = words.length > 0;
            let found = 0;
            let tables = 0;
            for (const entity of entities) {
              if (starts) entity.texts = entity.texts || entity.rows.map(text);
              if (starts) if (!isSearching) entity.wasOpen = entity.element.open;
              let matches = 0;
              entity.rows.forEach(function (row, index) {
                const isFound = words.every(function (word) { return entity.texts[index].includes(word); });
                row.hidden = !isFound;
                if (isFound) matches += 1;
              });
              found += matches;
              if (matches > 0) tables += 1;
              entity.element.hidden = starts ? matches === 0 : false;
              if (starts) entity.element.open = true;
              else if (isSearching) entity.element.open = entity.wasOpen;
            }
            isSearching = starts;
            status.textContent = !starts ? '' : found === 0 ? 'Nothing in the sample matches.'
              : counted(found, 'object', 'objects') + ' of ' + counted(tables, 'entity', 'entities') + ' found';
          }

          function show() {
            const target = document.getElementById(location.hash.slice(1));
            if (!target) return;
            if (target.hidden || target.closest('[hidden]')) {
              field.value = '';
              search();
            }
            for (let part = target; part; part = part.parentElement) {
              if (part.localName === 'details') part.open = true;
            }
            if (target.tabIndex === -1) target.tabIndex = -1;
            target.scrollIntoView({ block: target.localName === 'tr' ? 'center' : 'start' });
            target.focus({ preventScroll: true });
          }

          if (field) {
            let timer = 0;
            field.closest('[hidden]').hidden = false;
            field.addEventListener('input', function () {
              clearTimeout(timer);
              timer = setTimeout(search, 100);
            });
            if (field.value) search();
          }
          window.addEventListener('hashchange', show);
          document.addEventListener('click', function (event) {
            const link = event.target.closest('a[href^="#"]');
            if (link) if (link.hash === location.hash) show();
          });
          if (location.hash) show();
        })();

        """
}
