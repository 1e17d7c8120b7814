"""Panes of the page and their places on the screen."""

from typing import NamedTuple

from playwright.sync_api import Locator, Page


def pane(page: Page, kind: str) -> Locator:
    return page.locator(f".pane[data-kind={kind}]")


class Box(NamedTuple):
    """The edges and the size of an element, in pixels."""

    x: float
    y: float
    width: float
    height: float
    bottom: float


def box_of(element: Locator) -> Box:
    """Returns the place of a visible element."""
    box = element.bounding_box()
    assert box
    return Box(box["x"], box["y"], box["width"], box["height"], box["y"] + box["height"])
