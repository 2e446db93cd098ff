#!/usr/bin/env python3
"""Checks that every link within this repository leads somewhere.

Usage: scripts/check-links.py BOOK-DIRECTORY [MARKDOWN-FILE...]

Looks at the built book (links, images, anchors) and at Markdown files outside it. Links to other sites are not
followed: the check gives the same answer with and without a network.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MARKDOWN_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCED_CODE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)


class Page(HTMLParser):
    """The anchors that a page offers and the links that leave it."""

    def __init__(self, text):
        super().__init__()
        self.anchors = set()
        self.links = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif value and (name == "src" or (name == "href" and tag in ("a", "link"))):
                self.links.append(value)


class Markdown:
    """The same for a Markdown file; anchors are made of headings as code forges make them."""

    def __init__(self, text):
        text = FENCED_CODE.sub("", text)
        self.links = MARKDOWN_LINK.findall(text)
        self.anchors = {
            re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in HEADING.findall(text)
        }


def read(path, pages):
    """Parses a file once; None for what is neither HTML nor Markdown."""
    if path not in pages:
        kind = {".html": Page, ".md": Markdown}.get(path.suffix)
        pages[path] = kind(path.read_text(encoding="utf-8")) if kind else None
    return pages[path]


def broken(path, link, pages):
    """Why a link of the file leads nowhere; None if it is good or leaves the repository."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        return None
    if not target.is_file():
        return "no such file"
    page = read(target, pages)
    if parts.fragment and page and unquote(parts.fragment) not in page.anchors:
        return "no such anchor"
    return None


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    book = Path(arguments[0]).resolve()
    # print.html and 404.html hold the other pages' links once more, seen from another place.
    files = [file for file in sorted(book.rglob("*.html")) if file.name not in ("print.html", "404.html", "toc.html")]
    if not files:
        sys.exit(f"check-links: no page in {book}: build the book first (make docs)")
    files += [Path(name).resolve() for name in arguments[1:]]
    pages, count, failures = {}, 0, 0
    for path in files:
        for link in read(path, pages).links:
            count += 1
            why = broken(path, link, pages)
            if why:
                failures += 1
                print(f"{path}: {link}: {why}", file=sys.stderr)
    if failures:
        sys.exit(f"check-links: {failures} of {count} links lead nowhere")
    print(f"check-links: {count} links in {len(files)} files are good")


if __name__ == "__main__":
    main(sys.argv[1:])
