"""Reports all faults: a truncated list hides the second fault behind the first."""


def expect_none(faults):
    """Fails with one line per fault."""
    faults = list(faults)
    assert not faults, f"{len(faults)} faults\n" + "\n".join(map(str, faults[:60]))


def overflow(page):
    """Describes what overflows the page sideways, except inside elements that scroll or clip."""
    return page.evaluate("""() => {
      const root = document.documentElement;
      if (root.scrollWidth <= root.clientWidth) return null;
      const wide = [...document.querySelectorAll("body *")].filter((element) => {
        const box = element.getBoundingClientRect();
        if (box.width === 0 || (box.right <= root.clientWidth + 1 && box.left >= -1)) return false;
        for (let at = element.parentElement; at; at = at.parentElement)
          if (/auto|scroll|hidden|clip/.test(getComputedStyle(at).overflowX)) return false;
        return true;
      });
      return root.scrollWidth + " of " + root.clientWidth + ": " + wide.slice(-3).map(
        (element) => element.tagName + "." + element.className + " " +
          element.textContent.trim().slice(0, 30)).join(" | ");
    }""")
