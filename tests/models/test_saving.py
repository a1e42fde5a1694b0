"""Models in files: the same again in another process, and files that are no models."""

import contextlib
import json
import os
import subprocess
import sys
import zipfile

import equinox as eqx
import jax
import numpy as np
import pytest
from tests.models.saved import answers

import leadline as ll
from leadline import kernels as k
from leadline.models import LaplaceClassifier, Titsias, mixture

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(20, 2))
Y = np.sin(6.0 * X[:, 0]) + X[:, 1]
TWO = np.stack([Y, 2.0 * Y - 1.0], axis=1)


class Bump(k.Kernel):
    """A kernel of one's own."""

    width: float = eqx.field(static=True, default=0.5)

    def __call__(self, x, y):
        return k.SquaredExponential(self.width)(x, y)

    def diag(self, x):
        return jax.numpy.ones(x.shape[0])


class Even(eqx.Module):
    """Length scales that do not change."""

    def __call__(self, x):
        return 0.5 + 0.0 * x


def exact(length=0.4, **changes):
    return ll.GP(1.5 * k.Matern52([length, 0.9]), **{"mean": 0.2, "noise": 0.02, **changes})


POSTERIORS = {
    "exact": lambda: exact(noise=ll.fixed(0.02)).condition(X, Y),
    "nuts": lambda: mixture([exact(0.4).condition(X, Y), exact(0.6).condition(X, Y)], [0.2, 0.8]),
    "multi": lambda: ll.MultiGP(k.Matern52([0.4, 0.9]), outputs=2).condition(X, TWO),
    "sparse": lambda: Titsias(1.5 * k.Matern52([0.4, 0.9]), X[:5]).condition(X, Y),
    "labels": lambda: LaplaceClassifier(1.5 * k.Matern52([0.4, 0.9])).condition(X, Y > 0.5),
}


@pytest.fixture(scope="module")
def posteriors():
    return {name: make() for name, make in POSTERIORS.items()}


def test_another_process_finds_the_same_posteriors(posteriors, tmp_path):
    files = [str(tmp_path / f"{name}.npz") for name in posteriors]
    for post, file in zip(posteriors.values(), files, strict=True):
        post.save(file)
    target = tmp_path / "answers.npz"
    command = [sys.executable, "-m", "tests.models.saved", str(target), *files]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = np.load(target)
    said = [answers(post) for post in posteriors.values()]
    assert {"mean", "var", "paths", "updated"} == {*said[0]} == {*said[2], "paths"}
    assert len(found) == sum(map(len, said))
    for i, each in enumerate(said):
        for key, value in each.items():
            np.testing.assert_array_equal(found[f"{i}.{key}"], value)


@pytest.mark.parametrize("name", POSTERIORS)
def test_a_posterior_is_loaded_as_it_was(posteriors, name, tmp_path):
    post = posteriors[name]
    post.save(tmp_path / "model.npz")
    again = ll.load(str(tmp_path / "model.npz"))
    assert type(again) is type(post)
    assert repr(again) == repr(post)
    # Also what is static, and which arrays are on the host: no program is compiled anew.
    assert jax.tree.structure(again) == jax.tree.structure(post)
    for a, b in zip(jax.tree.leaves(again), jax.tree.leaves(post), strict=True):
        assert type(a) is type(b)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "model",
    [
        exact(noise=ll.fixed(0.1)),
        ll.MultiGP([k.Matern52(0.5), k.Linear()], outputs=2, own=False),
        k.Periodic(0.3) * k.Matern(0.2, nu=1.5).on([0]) + k.DirectSum([k.White()], [[1]]),
        k.PartlyAdditive([0.1, np.pi], extent=1.0) + Bump(0.25),
        ll.means.Linear([1.0, np.nextafter(2.0, 3.0)]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_without_data_too(model, tmp_path):
    model.save(tmp_path / "model.npz")
    again = ll.load(tmp_path / "model.npz")
    assert repr(again) == repr(model)
    assert bool(eqx.tree_equal(again, model))


def test_what_has_no_name_cannot_be_saved(tmp_path):
    class Local(Bump):
        pass

    with pytest.raises(ll.InvalidData, match=r"test_saving.*Local is defined inside of a function"):
        Local().save(tmp_path / "model.npz")
    warped = ll.GP(k.Warp(k.Matern52(), lambda x: x**2))
    with pytest.raises(ll.InvalidData, match=r"GP\.kernel\.warp\.function is .*as a module"):
        warped.save(tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_only_by_a_complete_one(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    k.Matern52(0.5).save(path)
    before = path.read_bytes()

    def fills_the_disk(file, **arrays):
        file.write(b"PK")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fills_the_disk)
    with pytest.raises(ll.InvalidData, match=r"model\.npz cannot be written: No space left"):
        k.Matern52(0.7).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.npz"]


def test_nothing_but_a_model_is_replaced(tmp_path):
    journal = tmp_path / "run.db"
    with contextlib.closing(ll.Minimize([(0.0, 1.0)], journal=journal)) as question:
        question.tell([0.5], 0.3)
    with pytest.raises(ll.InvalidData, match=r"run\.db is there, and is no model"):
        k.Matern52(0.5).save(journal)
    assert len(ll.load(journal).trials) == 1
    (tmp_path / "empty").touch()
    k.Matern52(0.5).save(tmp_path / "empty")
    assert repr(ll.load(tmp_path / "empty")) == repr(k.Matern52(0.5))


def rewritten(path, change):
    """The file with another description."""
    with np.load(path) as file:
        arrays = dict(file)
    head = json.loads(arrays["leadline"].tobytes())
    change(head)
    arrays["leadline"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda head: head.update(format=2), "written by Leadline .* formats up to 1"),
        (lambda head: head.update(module={"pickle": 1}), "has the key 'pickle'"),
        (lambda head: head.update(module={"tuple": [1]}), "describes no model"),
        (lambda head: head.pop("module"), "is damaged"),
        (lambda head: head["module"].update({"class": "os.system"}), "no class 'system'"),
        (lambda head: head["module"].update({"class": "jax.Array"}), "no class 'Array'"),
        (lambda head: head["module"].update({"class": "antigravity.Fly"}), "import what defines"),
        (lambda head: head["module"].update({"class": "leadline.none.Fly"}), "import what defines"),
        (lambda head: head["module"]["fields"].update(added=1), "by another version"),
        (lambda head: head["module"]["fields"].pop("lengthscale"), "lengthscale"),
    ],
)
def test_files_that_say_something_else(change, said, tmp_path):
    path = tmp_path / "model.npz"
    k.Gibbs(Even()).save(path)
    with pytest.raises(ll.InvalidData, match=said):
        ll.load(rewritten(path, change))
    assert "antigravity" not in sys.modules


def test_files_that_are_damaged_or_no_models(tmp_path):
    path, other, text = (tmp_path / name for name in ("model.npz", "other.npz", "text.npz"))
    k.Matern52([0.5] * 50).save(path)
    whole = path.read_bytes()
    for damaged in (whole[:-40], whole[:300], b"PK", whole.replace(b"Matern52", b"Matern99")):
        path.write_bytes(damaged)
        with pytest.raises(ll.InvalidData, match=r"model\.npz is damaged") as raised:
            ll.load(path)
        assert "pickle" not in str(raised.value)
    np.savez(other, x=X)
    with pytest.raises(ll.InvalidData, match="not one that Leadline has saved"):
        ll.load(other)
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("letter.txt", "hello")
    with pytest.raises(ll.InvalidData, match="not one that Leadline has saved"):
        ll.load(other)
    text.write_text("rate = 0.1\n" * 200)
    with pytest.raises(ll.InvalidData, match="cannot be opened"):
        ll.load(text)
    with pytest.raises(ll.InvalidData, match=r"There is no model .*none\.npz"):
        ll.load(tmp_path / "none.npz")


def test_a_field_that_a_later_version_added_has_its_default(tmp_path):
    path = tmp_path / "model.npz"
    k.PartlyAdditive([0.1, 0.2]).save(path)
    rewritten(path, lambda head: head["module"]["fields"].pop("extent"))
    assert ll.load(path).extent is None
