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

  // Lines of a live log come one by one, and stay at a number that a page bears.
  var most = 5000;
  function later(a, b) {
    return a.length > b.length || a.length === b.length && a > b;
  }
  function clock(at) {
    var zone = document.querySelector("#lines").dataset.offset;
    var time = new Date(new Date(at).getTime() + Number(zone) * 1000);
    return time.toISOString().slice(11, 23);
  }
  function line(event) {
    var row = document.createElement("div"), time = document.createElement("time"), text = document.createElement("span");
    row.className = "l-" + event.level;
    time.dateTime = event.at;
    time.textContent = clock(event.at);
    text.textContent = event.text;
    row.append(time, text);
    return row;
  }
  function follow(lines) {
    var source = new EventSource(lines.dataset.stream), after = lines.dataset.after, waiting = [];
    var box = document.querySelector("#follow");
    function show() {
      var rows = waiting.splice(0);
      lines.append.apply(lines, rows);
      while (lines.childElementCount > most) {
        lines.firstElementChild.remove();
        document.querySelector("#cut").hidden = false;
      }
      document.querySelector("#silent").hidden = lines.childElementCount > 0;
      if (box && box.checked) lines.scrollTop = lines.scrollHeight;
    }
    source.addEventListener("log", function (message) {
      if (!later(message.lastEventId, after)) return;
      after = message.lastEventId;
      var event = JSON.parse(message.data);
      if (event.stage !== "output") return;
      if (waiting.push(line(event)) === 1) requestAnimationFrame(show);
      if (waiting.length > most) waiting.splice(0, waiting.length - most);
    });
    source.addEventListener("end", function () {
      source.close();
      var state = document.querySelector("#state");
      if (state && window.htmx) window.htmx.trigger(state, "ended");
      if (box) box.closest("label").remove();
    });
  }
  document.querySelectorAll("[data-stream]").forEach(follow);

  // On a small screen the menu scrolls to where one is.
  var current = document.querySelector(".top [aria-current]");
  if (current) current.parentElement.scrollLeft = current.offsetLeft - current.parentElement.clientWidth / 2 + current.offsetWidth / 2;

  // What stands somewhere can be copied, where the browser allows that.
  if (navigator.clipboard) {
    document.querySelectorAll("[data-copy]").forEach(function (button) {
      button.hidden = false;
      button.addEventListener("click", function () {
        navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent);
      });
    });
  }

  // One box checks all others of its form.
  document.addEventListener("change", function (event) {
    if (!event.target.matches("[data-all]")) return;
    event.target.form.querySelectorAll("input[name=task]").forEach(function (box) {
      box.checked = event.target.checked;
    });
  });
})();
