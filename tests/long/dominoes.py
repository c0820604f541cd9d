"""Reference for strangers.py: the wave in a row of dominoes. Each domino rotates about its front edge without slipping. Fallen
dominoes lean on the next one with friction, and collisions are perfectly inelastic, so all follow the foremost one. The equations are
van Leeuwen's (The domino effect, Am. J. Phys. 78, 2010). It uses no code of the program."""
import math

from vectors import runge_kutta

GRAVITY, ANGLE_STEP = 9.81, 1e-6


class Row:
    def __init__(self, height, thickness, pitch, friction):
        self.height, self.thickness, self.pitch, self.friction = height, thickness, pitch, friction
        self.inertia = (height**2 + thickness**2) / 3

    def angles(self, foremost, behind):
        """From the foremost to the one that was pushed: the top edge of each lies in the back face of the next."""
        all_angles = [foremost]
        for _ in range(behind):
            across = (self.pitch * math.cos(all_angles[-1]) - self.thickness) / self.height
            all_angles.append(all_angles[-1] + math.asin(across))
        return all_angles

    def rates(self, angles):
        """Of all, for a rate of 1 of the foremost."""
        all_rates = [1.0]
        for front, back in zip(angles, angles[1:]):
            all_rates.append(all_rates[-1] * (1 - self.pitch * math.sin(front) / (self.height * math.cos(back - front))))
        return all_rates

    def arms(self, front, back):
        """Of the force between two about the edge of the front one, and about that of the back one."""
        cosine, sine = math.cos(back - front), math.sin(back - front)
        return (self.height * cosine - self.pitch * math.sin(front) - self.friction * self.thickness,
                self.height * cosine + self.friction * self.height * sine)

    def balance(self, angles, known, of_unknown):
        """known[i] + of_unknown[i] x + (force from behind) (its arm) = (force on the next) (its arm), for all from the last one
        forward, and nothing on the next of the foremost: returns x."""
        force, slope, arm = 0.0, 0.0, 0.0
        for i in range(len(angles) - 1, 0, -1):
            front_arm, own_arm = self.arms(angles[i - 1], angles[i])
            force, slope = (known[i] + force * arm) / own_arm, (of_unknown[i] + slope * arm) / own_arm
            arm = front_arm
        return -(known[0] + force * arm) / (of_unknown[0] + slope * arm)

    def acceleration(self, foremost, rate, behind):
        angles = self.angles(foremost, behind)
        rates, further = self.rates(angles), self.rates(self.angles(foremost + ANGLE_STEP, behind))
        torque = [GRAVITY / 2 * (self.height * math.sin(a) - self.thickness * math.cos(a)) for a in angles]
        bent = [(b - a) / ANGLE_STEP * rate**2 for a, b in zip(rates, further)]
        return self.balance(angles, [t - self.inertia * b for t, b in zip(torque, bent)], [-self.inertia * r for r in rates])

    def struck(self, angle, rate, behind):
        """The rate of the next one, at rest and upright until now."""
        angles = self.angles(angle, behind)
        before = [0.0] + [rate * r for r in self.rates(angles)]
        together = [0.0] + angles
        return self.balance(together, [self.inertia * r for r in before], [-self.inertia * r for r in self.rates(together)])

    def speed(self, push, first, last, dt=1e-4):
        """Between the blows on these two [m/s]; the one before all turns with `push` at first [rad/s]."""
        meets = math.asin((self.pitch - self.thickness) / self.height)
        state, time, behind, blows = ((0.0, push),), 0.0, 0, []
        while behind < last:
            after = runge_kutta(lambda s: ((s[0][1], self.acceleration(*s[0], behind)),), state, dt)
            (angle, rate), (next_angle, next_rate) = state[0], after[0]
            if next_angle < meets:
                state, time = after, time + dt
                continue
            part = (meets - angle) / (next_angle - angle)
            time += part * dt
            state = ((0.0, self.struck(meets, rate + part * (next_rate - rate), behind)),)
            behind += 1
            blows.append(time)
        return (last - first) * self.pitch / (blows[last - 1] - blows[first - 1])
