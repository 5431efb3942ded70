// Search and zoom for a picture of a difference. Without it the picture is whole all the same.
(function () {
  "use strict";
  var WIDTH = 1200, PAD = 10, COLUMN = 6.7, EDGED = 4, FOUND = "#ee99ee";
  var EDGES = {
    gone: { stroke: "#2f5f9e", "stroke-dasharray": "3 2" },
    "new": { stroke: "#a34a00", "stroke-width": "1.5" }
  };

  function setup(svg, alone) {
    var part = function (name) { return svg.querySelector("." + name); };
    var unzoom = part("unzoom"), search = part("search"), details = part("details"), matched = part("matched");
    var cells = Array.prototype.map.call(svg.querySelectorAll("g.cell"), cell);
    var over = false, zoomed = null, found = null;

    function cell(g) {
      var rect = g.querySelector("rect"), title = g.querySelector("title").textContent;
      var name = title.slice(0, Number(g.getAttribute("data-name"))), shorter = g.getAttribute("data-shorter");
      var place = g.getAttribute("data-at").split(" ").map(Number), share = g.getAttribute("data-share").split(" ").map(Number);
      return {
        g: g, rect: rect, title: title, name: name, forms: [name].concat(shorter ? shorter.split("\n") : []),
        mark: g.getAttribute("data-mark"), edge: g.getAttribute("data-edge"), fill: rect.getAttribute("fill"),
        x: place[0], w: place[1], row: place[2], y: Number(rect.getAttribute("y")), base: share[0], here: share[1]
      };
    }

    // The longest form of a name that fits, else the beginning of the function's own name.
    function fit(forms, room) {
      var own = forms[forms.length - 1], form = forms.filter(function (form) { return form.length <= room; })[0];
      return form === undefined ? own.slice(0, Math.max(1, room - 1)) + "\u2026" : form;
    }

    function label(cell, x, width) {
      var text = cell.g.querySelector("text"), room = Math.max(0, Math.floor((width - 6) / COLUMN)), shown = "";
      if (room >= 4) {
        room -= cell.mark.length + 1;
        shown = (cell.mark + " " + fit(cell.forms, room)).trim();
      }
      if (!shown) {
        if (text) { text.textContent = ""; }
        return;
      }
      if (!text) {
        text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        text.setAttribute("y", cell.y + 12);
        text.setAttribute("fill", "#1a1a1a");
        cell.g.appendChild(text);
      }
      text.setAttribute("x", x + 3);
      text.textContent = shown;
    }

    function place(cell, x, width, parent) {
      cell.g.setAttribute("visibility", "visible");
      cell.g.setAttribute("opacity", parent ? "0.5" : "1");
      cell.rect.setAttribute("x", x);
      cell.rect.setAttribute("width", Math.max(width - 0.6, width * 0.6));
      var edge = EDGES[cell.edge];
      Object.keys(edge || {}).forEach(function (name) {
        if (width < EDGED) { cell.rect.removeAttribute(name); } else { cell.rect.setAttribute(name, edge[name]); }
      });
      label(cell, x, width);
    }

    function zoom(to) {
      zoomed = to && to.row > 0 ? to : null;
      unzoom.setAttribute("visibility", zoomed ? "visible" : "hidden");
      var whole = WIDTH - 2 * PAD, from = zoomed ? zoomed.x : PAD, scale = zoomed ? whole / zoomed.w : 1;
      cells.forEach(function (cell) {
        var within = !zoomed || cell.row >= zoomed.row && cell.x >= from - 0.01 && cell.x + cell.w <= from + zoomed.w + 0.01;
        if (within) {
          place(cell, PAD + (cell.x - from) * scale, cell.w * scale, false);
        } else if (cell.row < zoomed.row && cell.x <= from + 0.01 && cell.x + cell.w >= from + zoomed.w - 0.01) {
          place(cell, PAD, whole, true);
        } else {
          cell.g.setAttribute("visibility", "hidden");
        }
      });
    }

    function find(text) {
      var pattern = null, spans = [], base = 0, here = 0;
      if (text) {
        try { pattern = new RegExp(text); } catch (wrong) { pattern = { test: function (name) { return name.indexOf(text) >= 0; } }; }
      }
      found = pattern;
      search.textContent = pattern ? "Reset search" : "Search";
      cells.forEach(function (cell) {
        var hit = pattern && cell.row > 0 && pattern.test(cell.name);
        cell.rect.setAttribute("fill", hit ? FOUND : cell.fill);
        cell.rect.setAttribute("fill-opacity", pattern && !hit ? "0.4" : "1");
        cell.g.setAttribute("font-weight", hit ? "bold" : "normal");
        // What lies in a cell that was found is counted with it.
        var inside = function (span) { return cell.x >= span.x - 0.01 && cell.x + cell.w <= span.x + span.w + 0.01; };
        if (hit && !spans.some(inside)) {
          spans.push(cell);
          base += cell.base;
          here += cell.here;
        }
      });
      matched.textContent = pattern ? "matched: " + base.toFixed(1) + "% of base, " + here.toFixed(1) + "% of new" : "";
    }

    function ask() {
      if (found) { find(""); return; }
      var text = window.prompt("Search for a function (regular expression)", "");
      if (text) { find(text); }
    }

    function at(target) {
      var g = target.closest ? target.closest("g.cell") : null;
      return g && cells.filter(function (cell) { return cell.g === g; })[0];
    }

    svg.addEventListener("click", function (event) {
      if (event.target === unzoom) { zoom(null); } else if (event.target === search) { ask(); } else {
        var target = at(event.target);
        if (target) { zoom(target); }
      }
    });
    svg.addEventListener("mouseover", function (event) {
      var target = at(event.target);
      over = true;
      details.textContent = target ? target.title : "";
    });
    svg.addEventListener("mouseleave", function () { over = false; details.textContent = ""; });
    window.addEventListener("keydown", function (event) {
      if (!alone && !over) { return; }
      if (event.key === "F3" || event.ctrlKey && (event.key === "f" || event.key === "F")) {
        event.preventDefault();
        ask();
      } else if (event.key === "Escape") {
        find("");
        zoom(null);
      }
    });
    search.setAttribute("visibility", "visible");
  }

  function start() {
    var root = document.documentElement, alone = root.localName === "svg";
    Array.prototype.forEach.call(alone ? [root] : document.querySelectorAll("svg.difference"), function (svg) { setup(svg, alone); });
  }
  if (document.readyState === "loading") { document.addEventListener("DOMContentLoaded", start); } else { start(); }
})();
