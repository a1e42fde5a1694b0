"""A cart with a pole to swing up and balance.

Notation: state `x = (position, angle, velocity, angular velocity)`, in meters, radians and seconds;
action `a`, the force on the cart in newtons. The angle is measured from the hanging pole, so that
0 hangs and pi stands; it is not wrapped around. The goal is the pole standing at position 0, where
its tip is at `(0, pole_length)`.

Wilson (2023, section 3.6.4) measures the angle from the standing pole. He lists the state as
position, velocity, angle, angular velocity, but gives the initial mean as (0, pi, 0, 0), which
means a hanging pole only in the order used here.

The pole is a uniform rod of length l and mass m on a cart of mass M with friction b:

    D    = 4 (M + m) - 3 m cos^2 phi
    x''   = (2 l m phi'^2 sin phi + 3 m g sin phi cos phi + 4 (F - b x')) / D
    phi'' = (-3 m l phi'^2 sin phi cos phi - 6 (M + m) g sin phi - 6 (F - b x') cos phi) / (l D)

(Deisenroth 2010, appendix C). The force is held for `dt` seconds, over which the equations are
integrated by the classical Runge-Kutta rule.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from leadline.dynamics._encoding import Encoding
from leadline.dynamics._reward import GaussianReward
from leadline.measures import Gaussian


class CartPole(eqx.Module):
    """The system, an environment for `PILCO`.

    Attributes:
        start: the law of the initial state.
        pole_length, pole_mass, cart_mass: in meters and kilograms.
        friction: of the cart, in newtons per meter per second.
        bound: the largest force, in newtons.
        dt: how long a force is held, in seconds.
        substeps: Runge-Kutta steps in that time.
    """

    start: Gaussian
    pole_length: float = 0.5
    pole_mass: float = 0.5
    cart_mass: float = 0.5
    friction: float = 0.1
    gravity: float = 9.82
    bound: float = eqx.field(static=True, default=10.0)
    dt: float = 0.1
    substeps: int = eqx.field(static=True, default=50)
    encoding: Encoding = eqx.field(static=True, default=Encoding(4, angle=1))

    @classmethod
    def standard(cls) -> CartPole:
        """The pole hangs almost still: N(0, 0.01 I)."""
        return cls(Gaussian(np.zeros(4), np.full(4, 0.01)))

    @classmethod
    def challenge(cls) -> CartPole:
        """The pole hangs on average: N(0, diag(1, 1, pi, pi))."""
        return cls(Gaussian(np.zeros(4), np.array([1.0, 1.0, np.pi, np.pi])))

    def derivative(
        self, x: Float[Array | np.ndarray, " 4"], force: Float[Array | np.ndarray, ""]
    ) -> Float[Array, " 4"]:
        """The time derivative of the state under a force."""
        l, m, total = self.pole_length, self.pole_mass, self.cart_mass + self.pole_mass
        s, c = jnp.sin(x[1]), jnp.cos(x[1])
        d = 4.0 * total - 3.0 * m * c**2
        push = force - self.friction * x[2]
        spin = l * m * x[3] ** 2 * s
        cart = (2.0 * spin + 3.0 * m * self.gravity * s * c + 4.0 * push) / d
        pole = -(3.0 * spin * c + 6.0 * total * self.gravity * s + 6.0 * push * c) / (l * d)
        return jnp.stack([x[2], x[3], cart, pole])

    def step(
        self, x: Float[Array | np.ndarray, " 4"], action: Float[Array | np.ndarray, " 1"]
    ) -> Float[Array, " 4"]:
        """The state `dt` seconds later; forces beyond the bound are cut off there."""
        return _step_jit(self, jnp.asarray(x), jnp.asarray(action))

    def reset(self, key: Array) -> Float[Array, " 4"]:
        """A first state."""
        return self.start.sample(key, 1)[0]

    def energy(self, x: Float[Array | np.ndarray, "... 4"]) -> Float[Array, ...]:
        """Kinetic and potential energy, in joules; 0 if cart and pole are level and at rest."""
        l, m, total = self.pole_length, self.pole_mass, self.cart_mass + self.pole_mass
        x = jnp.asarray(x)
        angle, v, w = x[..., 1], x[..., 2], x[..., 3]
        kinetic = 0.5 * total * v**2 + 0.5 * m * l * v * w * jnp.cos(angle) + m * l**2 * w**2 / 6.0
        return kinetic - 0.5 * m * self.gravity * l * jnp.cos(angle)

    def tip(self, x: Float[Array | np.ndarray, "... 4"]) -> Float[Array, "... 2"]:
        """Where the free end of the pole is: across and up."""
        across = x[..., 0] + self.pole_length * jnp.sin(x[..., 1])
        return jnp.stack([across, -self.pole_length * jnp.cos(x[..., 1])], axis=-1)

    def distance(self, x: Float[Array | np.ndarray, "... 4"]) -> Float[Array, ...]:
        """From the tip to where it should be, in meters."""
        goal = jnp.array([0.0, self.pole_length])
        return jnp.linalg.norm(self.tip(x) - goal, axis=-1)

    def solved(
        self, trajectory: Float[Array | np.ndarray, "... t 4"], radius: float = 0.1, steps: int = 10
    ) -> Bool[np.ndarray, ...]:
        """Whether the tip is within `radius` of the goal for so many states in a row."""
        near = np.asarray(self.distance(jnp.asarray(trajectory))) <= radius
        run = longest = np.zeros(near.shape[:-1], int)
        for now in np.moveaxis(near, -1, 0):
            run = np.where(now, run + 1, 0)
            longest = np.maximum(longest, run)
        return np.asarray(longest >= steps)

    def reward(self, width: float = 0.25) -> GaussianReward:
        """exp(-distance^2 / (2 width^2)) of the tip (Wilson 2023, eq. 3.76).

        He gives no width; 0.25 m is that of Deisenroth et al. (2015) and of the program that goes
        with the thesis.
        """
        # Encoded states are (position, velocity, angular velocity, sin, cos).
        l = self.pole_length
        matrix = jnp.array([[1.0, 0.0, 0.0, l, 0.0], [0.0, 0.0, 0.0, 0.0, -l]])
        return GaussianReward(matrix, jnp.array([0.0, l]), width, self.encoding)


@eqx.filter_jit
def _step_jit(system: CartPole, x: Array, action: Array) -> Array:
    force = jnp.clip(action[0], -system.bound, system.bound)
    h = system.dt / system.substeps

    def runge_kutta(x, _):
        k1 = system.derivative(x, force)
        k2 = system.derivative(x + 0.5 * h * k1, force)
        k3 = system.derivative(x + 0.5 * h * k2, force)
        k4 = system.derivative(x + h * k3, force)
        return x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), None

    return jax.lax.scan(runge_kutta, x, None, length=system.substeps)[0]
