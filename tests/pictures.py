#!/usr/bin/env python3
"""Pictures of real terminal sessions as SVG: tests/pictures.py IRONLAW FOLDER (needs tmux).

session.svg is the overview of a live built-in program, flamegraph.svg what `ironlaw demo` draws of the same, sweep.svg the
chart of a sweep of a built-in mutex."""
import html, os, re, subprocess, sys, tempfile, time

COLUMNS, ROWS, WIDE, HIGH = 110, 32, 8.4, 18
PLAIN = ["#1c1c1c", "#d75f5f", "#87af5f", "#d7af5f", "#5f87d7", "#af87d7", "#5fafaf", "#d0d0d0",
         "#767676", "#ff8787", "#afd787", "#ffd787", "#87afff", "#d7afff", "#87d7d7", "#ffffff"]

def indexed(number):
    """A colour of the 256."""
    if number < 16: return PLAIN[number]
    if number > 231: return "#%02x%02x%02x" % ((8 + 10 * (number - 232),) * 3)
    steps = [0, 95, 135, 175, 215, 255]; number -= 16
    return "#%02x%02x%02x" % (steps[number // 36], steps[number // 6 % 6], steps[number % 6])

def styled(codes, style):
    """The style after the numbers of one escape sequence."""
    codes = [int(code or 0) for code in codes.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0: style = dict()
        elif code in (1, 2, 3, 4, 7): style = {**style, code: True}
        elif code in (22, 23, 24, 27): style = {key: value for key, value in style.items() if key not in {22: (1, 2), 23: (3,), 24: (4,), 27: (7,)}[code]}
        elif code in (38, 48):
            kind, layer = codes.pop(0), "fg" if code == 38 else "bg"
            if kind == 5: style = {**style, layer: indexed(codes.pop(0))}
            else: style = {**style, layer: "#%02x%02x%02x" % (codes.pop(0), codes.pop(0), codes.pop(0))}
        elif 30 <= code <= 37 or 90 <= code <= 97: style = {**style, "fg": PLAIN[code % 10 + (8 if code >= 90 else 0)]}
        elif 40 <= code <= 47 or 100 <= code <= 107: style = {**style, "bg": PLAIN[code % 10 + (8 if code >= 100 else 0)]}
        elif code in (39, 49): style = {key: value for key, value in style.items() if key != ("fg" if code == 39 else "bg")}
    return style

def svg(text):
    """What a terminal shows, escape sequences and all, as a picture."""
    width, height = COLUMNS * WIDE + 20, ROWS * HIGH + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">',
           f'<rect width="100%" height="100%" rx="6" fill="{PLAIN[0]}"/>',
           '<g font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14">']
    style = dict()
    for row, line in enumerate(text.split("\n")[:ROWS]):
        column, top = 0, 10 + row * HIGH
        for part in re.split(r"(\x1b\[[0-9;]*m)", line):
            escape = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
            if escape: style = styled(escape[1], style); continue
            if not part: continue
            fg, bg = style.get("fg", PLAIN[7]), style.get("bg")
            if 7 in style: fg, bg = bg or PLAIN[0], fg
            left, length = 10 + column * WIDE, len(part) * WIDE
            if bg: out.append(f'<rect x="{left:.1f}" y="{top}" width="{length:.1f}" height="{HIGH}" fill="{bg}"/>')
            more = (' font-weight="bold"' if 1 in style else "") + (' opacity="0.65"' if 2 in style else "")
            # Blanks are left out: every run of words stands at its own column.
            for words in re.finditer(r"\S+(?: \S+)*", part):
                at, length = left + words.start() * WIDE, len(words[0]) * WIDE
                out.append(f'<text x="{at:.1f}" y="{top + 14}" fill="{fg}"{more} textLength="{length:.1f}" '
                           f'lengthAdjust="spacingAndGlyphs">{html.escape(words[0])}</text>')
            column += len(part)
    return "\n".join(out + ["</g>", "</svg>", ""])

def tmux(*words): return subprocess.run(["tmux", "-L", "pictures", *words], check=True, capture_output=True, text=True).stdout

def shown(command, wait, keys=()):
    """A picture of a program in a terminal, so many seconds after its start and the keys."""
    tmux("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "env COLORTERM=truecolor TERM=tmux-256color " + command)
    try:
        time.sleep(wait)
        for key in keys: tmux("send-keys", key); time.sleep(1.5)
        return svg(tmux("capture-pane", "-e", "-p", "-N"))
    finally: tmux("kill-server")

def main():
    ironlaw, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        # Its name in the pictures is its own, not that of a folder.
        os.symlink(ironlaw, os.path.join(place, "ironlaw")); os.chdir(place); os.environ["PATH"] = place + ":" + os.environ["PATH"]
        pictures = {"session.svg": shown("ironlaw top -- ironlaw workload hotspot --threads 2 --seconds 60", 14)}
        subprocess.run(["ironlaw", "-q", "sweep", "-L", "threads", "1,2,4", "-r", "3", "-o", "mutex", "--headless", "--ops", r"regex:ops (\d+)", "--",
                        "ironlaw", "workload", "mutex", "--threads={threads}", "--seconds=2"], check=True, stdout=subprocess.DEVNULL)
        pictures["sweep.svg"] = shown("ironlaw view mutex.sweep", 4)
        subprocess.run(["ironlaw", "-q", "demo", "-o", "demo"], check=True, stdout=subprocess.DEVNULL)
        with open("demo.svg") as file: pictures["flamegraph.svg"] = file.read()
        for name, text in pictures.items():
            with open(os.path.join(folder, name), "w") as file: file.write(text)

main()
