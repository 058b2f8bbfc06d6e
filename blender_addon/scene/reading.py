# SPDX-License-Identifier: GPL-3.0-or-later
"""All that surrounds a character, read while the frames of its motion go by."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

import bpy

from ...core.job import Scene
from ...core.motion.clip import Clip
from ...core.motion.path import Path
from ...core.motion.playback import Playback
from ..overlay.data import read_rides
from ..typed import settings_on
from .course import CourseReader
from .footholds import find_marks, foothold_of
from .forms import Form, box_around, form_of
from .grabs import Reach, find_grips, grabs_of
from .playback import Tempo
from .props import SceneProp, find_things, load_of, prop_of
from .pushes import find_arrows, push_of
from .strength import StrengthReader
from .takes import Clock, course_taken, find_course_taken, find_taken, push_taken
from .terrain import Ground
from .ties import Tie, find_ties, look_at, tied
from .ways import WayReader


@dataclass(frozen=True)
class Surroundings:
    """What is around a character; time begins at the first frame that is simulated."""

    scene: Scene
    playback: Playback
    props: tuple[SceneProp, ...]  # the scene's props, with the objects that show them
    notes: tuple[str, ...]  # what could not be taken as it is, in sentences
    reaches: tuple[Reach, ...] = ()  # grabs of other characters


class Moving(Protocol):
    """What is looked at in every frame."""

    def look(self, row: int, graph: bpy.types.Depsgraph) -> None:
        """Read frame `row`."""


class SceneReader:
    """Looks around at every frame: hand `look` to the reading of the poses, then ask for what there was."""

    def __init__(
        self,
        context: bpy.types.Context,
        armature: bpy.types.Object,
        frames: int,
        start: int = 0,
        partners: Collection[int] = (),
    ) -> None:
        """Look for everything that belongs to the armature. The simulation is to begin at frame `start` of them.

        `partners` are the session numbers of armatures that are baked in one world with it.
        """
        self._partners = partners
        context.view_layer.update()  # what was removed just now is still listed as nothing
        self._armature, self._scene, self._start = armature, context.scene, start
        self._unit = context.scene.unit_settings.scale_length * settings_on(armature).scale
        self._ground = Ground(armature, context.view_layer, frames)
        self._arrows = find_arrows(context.view_layer, armature, frames)
        self._taken = find_taken(context.view_layer, armature)
        self._course_taken = find_course_taken(context.view_layer, armature)
        self._grips = find_grips(context.view_layer, armature, frames)
        self._course = CourseReader(armature, frames)
        self._tempo = Tempo(armature, frames)
        self._strength = StrengthReader(armature, frames)
        self._way = WayReader(armature, frames, start)
        self._marks = find_marks(context.view_layer, armature)
        self._props, self._weights = find_things(context.view_layer, armature)
        self._forms: dict[str, Form] = {}
        self._constraints = find_ties(context.view_layer) if self._props else []
        self._ties: list[Tie] = []
        for empty in (*(one.empty for one in self._arrows), *(one.empty for one in self._grips)):
            empty.update_tag()  # of what a script has set Blender evaluates nothing by itself

    def watched(self) -> list[bpy.types.Object]:
        """Return all that is looked at, as far as it is in the view layer."""
        settings = settings_on(self._armature)
        terrain = [] if settings.terrain is None else list(settings.terrain.all_objects)
        empties = [one.empty for one in self._arrows]
        empties += [one.empty for one in self._grips]
        empties += [one.empty for one in self._marks]
        held = [settings_on(grip.empty).grab.target for grip in self._grips]
        empties += self._constraints
        found = [*terrain, *empties, *held, *self._props, *self._weights, settings.path, settings.target]
        return [one for one in dict.fromkeys(found) if one is not None]

    @property
    def has_partners(self) -> bool:
        """Whether others are baked in one world with it."""
        return bool(self._partners)

    def look(self, row: int, graph: bpy.types.Depsgraph) -> None:
        """Read frame `row`."""
        self._ground.look(row, graph)
        moving: Iterable[Moving] = (*self._arrows, *self._grips, self._course, self._tempo, self._strength, self._way)
        for one in moving:
            one.look(row, graph)
        if row == self._start:
            for mark in self._marks:
                mark.look(graph)
            for thing in self._props:
                self._forms[thing.name_full] = form_of(thing, graph, self._unit)
            for thing in self._weights:
                self._forms[thing.name_full] = Form(box_around(thing.evaluated_get(graph), self._unit))
            self._ties = [look_at(one, graph, self._unit) for one in self._constraints]

    def path(self, clip: Clip, hips: int) -> Path | None:
        """Return where to walk; `hips` is the bone whose way is the motion's. ValueError in a sentence for the user."""
        return self._way.path(clip, hips, self._unit)

    def surroundings(self, clip: Clip, clock: Clock) -> Surroundings:
        """Return what was there while the poses of the clip were read; ValueError in a sentence for the user.

        What happened on the stage is counted in steps, by the `clock`.
        """
        armature, unit, start = self._armature, self._unit, self._start
        surfaces, notes = self._ground.surfaces(unit, clip.rate, start)
        taken = set(read_rides(settings_on(armature).rides)) if settings_on(armature).rides else set()
        props = [prop_of(thing, self._forms[thing.name_full], taken, clock) for thing in self._props]
        props, loose = tied(props, self._ties)
        notes += loose
        names = {prop.object_name: prop.prop.name for prop in props}
        pushes = [push_of(arrow, armature, clip, unit, start) for arrow in self._arrows]
        pushes += [push_taken(empty, armature, clip, clock) for empty in self._taken]
        grabs = [
            grab for grip in self._grips for grab in grabs_of(grip, armature, clip, unit, start, names, self._partners)
        ]
        footholds = [foothold_of(mark, armature, clip, unit) for mark in self._marks]
        loads = [load_of(thing, self._forms[thing.name_full].box, armature, clip, start) for thing in self._weights]
        gravity = self._scene.gravity if self._scene.use_gravity else (0.0, 0.0, 0.0)
        scene = Scene(
            surfaces=tuple(surfaces),
            friction=settings_on(armature).floor_friction,
            pushes=tuple(push for push in pushes if push is not None),
            grabs=tuple(grab for grab in grabs if not isinstance(grab, Reach)),
            footholds=tuple(footholds),
            course=(self._course_taken and course_taken(self._course_taken, clock))
            or self._course.course(clip.rate, start),
            strength=self._strength.strength(clip.rate, start),
            props=tuple(prop.prop for prop in props),
            loads=tuple(loads),
            # metres per second squared whatever the scene's unit scale: Blender's own 9.81 is one too
            gravity=(gravity[0], gravity[1], gravity[2]),
        )
        reaches = tuple(grab for grab in grabs if isinstance(grab, Reach))
        return Surroundings(scene, self._tempo.playback(clip.rate, start), tuple(props), tuple(notes), reaches)


def is_acted_on(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object) -> bool:
    """Whether pushes, grabs or footholds belong to a character."""
    found = (*find_arrows(view_layer, armature, 1), *find_grips(view_layer, armature, 1))
    return bool(found or find_taken(view_layer, armature) or find_marks(view_layer, armature))
