"""The runner of documentation examples: it runs all of a page, and says where one fails."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = """# A page

```python
a = 1
```

Text, and a block that is not Python:

```bash
exit 1
```

- In a list:

    ```python
    b = a + 1
    assert b == {wanted}
    ```
"""


@pytest.fixture(scope="module")
def runner():
    spec = importlib.util.spec_from_file_location("run_examples", ROOT / "docs/run_examples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def write(runner, tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "ROOT", tmp_path)

    def page(wanted):
        (tmp_path / "page.md").write_text(PAGE.format(wanted=wanted))
        return tmp_path / "page.md"

    return page


def test_blocks_of_a_page_share_a_namespace(runner, write):
    assert runner.run_page(write(wanted=2)) == 2


def test_a_failing_example_is_named(runner, write):
    with pytest.raises(RuntimeError, match=r"page\.md:16") as caught:
        runner.run_page(write(wanted=3))
    # The traceback points into the page: line 17 is the assertion.
    assert isinstance(caught.value.__cause__, AssertionError)
    traceback = caught.value.__cause__.__traceback__
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    assert traceback.tb_lineno == 17


def test_readme_and_docs_are_covered(runner):
    names = {page.relative_to(ROOT).as_posix() for page in runner.pages()}
    assert {"README.md", "docs/index.md"} <= names


@pytest.mark.slow
def test_every_example_runs():
    # In a process of its own, without the checks of shapes: as a reader runs them.
    command = [sys.executable, str(ROOT / "docs/run_examples.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "docs/index.md: 1 example run" in done.stdout
