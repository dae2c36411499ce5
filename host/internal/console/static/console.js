// Keeps pages fresh and forms handy. All pages work without it.
(function () {
  "use strict";

  // A part that refreshes itself waits while somebody is in it.
  document.addEventListener("htmx:beforeRequest", function (event) {
    var part = event.detail.elt;
    if (!part.matches("[hx-trigger^=every]")) return;
    var selection = document.getSelection();
    var reading = selection && !selection.isCollapsed && part.contains(selection.anchorNode);
    if (document.hidden || reading || part.contains(document.activeElement) || part.querySelector("details[open] form")) {
      event.preventDefault();
    }
  });

  // What cannot be undone is asked about.
  document.addEventListener("submit", function (event) {
    var question = event.submitter && event.submitter.dataset.confirm || event.target.dataset.confirm;
    if (question && !window.confirm(question)) event.preventDefault();
  });

  // One box checks all others of its form.
  document.addEventListener("change", function (event) {
    if (!event.target.matches("[data-all]")) return;
    event.target.form.querySelectorAll("input[name=task]").forEach(function (box) {
      box.checked = event.target.checked;
    });
  });
})();
