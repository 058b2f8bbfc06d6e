# SPDX-License-Identifier: GPL-3.0-or-later
"""The words that rigs have for parts of a body, in the languages that rigs are named in: data, and nothing else.

Words are lower case, without accents (see `names.folded`). A word that different rigs use for different bones (a
"shoulder", an "arm", a "leg") stands for each of them with a lesser weight: the other names of the chain settle it, and
where these are silent its shape does. In languages without spaces between words the longest word within a name counts.
"""

LEFT, RIGHT, MIDDLE = "L", "R", ""

Weights = dict[str, float]


def _same(words: str, **weights: float) -> dict[str, Weights]:
    """Words with the same meaning."""
    return dict.fromkeys(words.split(), weights)


def _side(words: str, side: str) -> dict[str, str]:
    """Words for a side."""
    return dict.fromkeys(words.split(), side)


SIDE_OF_WORD = {
    **_side("l left lf lft lt lef izq izquierda izquierdo gauche links li", LEFT),
    **_side("sinistra sinistro sx esquerda esquerdo esq", LEFT),
    **_side("левая левый левое лев 左 왼 왼쪽 좌", LEFT),
    **_side("r right rg rgt rt rht rig der derecha derecho droite droit rechts re", RIGHT),
    **_side("destra destro dx direita direito dir", RIGHT),
    **_side("правая правый правое прав 右 오른 오른쪽 우", RIGHT),
}
"""A word that is a side by itself."""

GROWN_SIDES = tuple(word for word in SIDE_OF_WORD if len(word) > 3 or not word.isascii())
"""Sides that are found where they have grown together with a word: lefthand, 左足."""

PREFIXES = {"mixamorig", "armature", "skeleton", "bip", "biped", "valvebiped", "cc", "base", "def", "jnt", "joint"}
PREFIXES |= {"bone", "bn", "b", "j", "c", "m", "x", "skel", "rig", "character", "sk", "bind", "jt", "geo", "deform"}
PREFIXES |= {"valve", "avg", "npc", "stretch", "skin", "part", "ctr", "mid", "cnt", "sub"}

CONTROL = {
    "attach", "bck", "camera", "center", "control", "controller", "corrective", "ctl", "ctrl", "dummy", "effector",
    "end", "fk", "footsteps", "glue", "goal", "ground", "gun", "handle", "heel", "helper", "holder", "ik",
    "interaction", "mass", "master", "mch", "nub", "null", "offset", "org", "pivot", "pole", "prop", "pv", "rock",
    "sharebone", "shield", "site", "socket", "sword", "swing", "target", "tgt", "traj", "tweak", "virtual", "vis",
    "weapon", "wgt", "センター", "グルーブ", "全ての親", "キャンセル", "操作中心",
}  # fmt: skip
"""Bones that steer other bones, or mark a place, and carry no part of the body."""

RIDING = {
    "adj", "bag", "bang", "beard", "belt", "boob", "braid", "breast", "brow", "bust", "buttock", "cape", "cheek",
    "chin", "cloth", "coat", "dress", "dyn", "ear", "ears", "eye", "eyeball", "eyebrow", "eyelid", "eyes", "face",
    "facial", "feather", "forehead", "genital", "glasses", "glute", "hair", "hat", "helmet", "jaw", "jiggle", "lid",
    "lip", "lips", "mouth", "mustache", "necklace", "nose", "nostril", "pec", "pectoral", "physics", "ponytail",
    "ribbon", "scarf", "scrotum", "sec", "skirt", "sleeve", "teeth", "temple", "tongue", "tooth", "wing",
    "目", "髪", "乳", "スカート", "眼", "头发", "머리카락", "눈", "волосы", "глаз",
}  # fmt: skip
"""Parts that ride on the body: face, hair, clothes, flesh."""

TWIST = {"twist", "roll", "bend", "捩", "捩り", "ひねり"}
"""Segments of a limb. They lie in its chain (Daz, MakeHuman) or beside it (Unreal), but start nothing."""

FINGER = {"thumb", "index", "middle", "ring", "pinky", "pinkie", "little", "finger", "fingers", "palm", "metacarpal"}
FINGER |= {"carpal", "digit", "knuckle", "dedo", "doigt", "dito", "pouce", "daumen", "handtip", "handend"}
FINGER |= {"親指", "人指", "人差指", "中指", "薬指", "小指", "指", "拇指", "食指", "손가락", "палец"}

FRONT = {"front", "fore", "fr"}
HIND = {"hind", "rear", "back", "bk"}

MIDDLE_PARTS: dict[str, Weights] = {
    # English, and what rigs make of it
    "pelvis": {"pelvis": 1.0},
    "hips": {"pelvis": 1.0},
    "hip": {"pelvis": 0.8},
    "spinebase": {"pelvis": 1.0},
    "lowertorso": {"pelvis": 1.0},
    "cog": {"pelvis": 0.5},
    "root": {"pelvis": 0.2},
    "sacrum": {"pelvis": 0.8, "spine": 0.3},
    "spine": {"spine": 0.8, "chest": 0.7, "neck": 0.2, "head": 0.2, "pelvis": 0.2},
    "tospine": {"spine": 0.8, "chest": 0.5},
    "spinemid": {"spine": 1.0},
    "spineshoulder": {"chest": 1.0, "spine": 0.5},
    "lowerback": {"spine": 1.0},
    "upperback": {"chest": 0.8, "spine": 0.8},
    "back": {"spine": 0.6, "chest": 0.4},
    "vertebra": {"spine": 0.8, "chest": 0.7},
    "lumbar": {"spine": 1.0},
    "thoracic": {"chest": 0.8, "spine": 0.8},
    "navel": {"spine": 1.0},
    "stomach": {"spine": 1.0},
    "belly": {"spine": 0.8},
    "waist": {"spine": 1.0, "pelvis": 0.3},
    "torso": {"spine": 0.6, "chest": 0.5, "pelvis": 0.3},
    "uppertorso": {"chest": 1.0, "spine": 0.5},
    "upperbody": {"spine": 0.7, "chest": 0.7},
    "lowerbody": {"pelvis": 0.8},
    "body": {"spine": 0.3, "chest": 0.3, "pelvis": 0.3},
    "chest": {"chest": 1.0, "spine": 0.5},
    "ribs": {"chest": 0.8, "spine": 0.4},
    "neck": {"neck": 1.0, "head": 0.1},
    "lowerneck": {"neck": 1.0},
    "upperneck": {"neck": 1.0},
    "cervical": {"neck": 1.0},
    **_same("abdomen ab", spine=1.0),
    **_same("thorax ribcage", chest=1.0, spine=0.4),
    **_same("head skull", head=1.0),
    **_same("tail", tail=1.0),
    # French, Spanish, Italian, Portuguese, German, Russian
    **_same("bassin hanches cadera caderas bacino quadril becken huefte hufte таз", pelvis=1.0),
    **_same("colonne columna espalda colonna coluna", spine=0.8, chest=0.7),
    **_same("wirbelsaule ruecken rucken позвоночник спина", spine=0.8, chest=0.7),
    **_same("ventre abdomen addome bauch живот", spine=1.0),
    **_same("poitrine torse pecho torace petto peito torax brustkorb brust грудь", chest=1.0, spine=0.4),
    **_same("cou cuello collo pescoco hals шея", neck=1.0),
    **_same("tete cabeza testa cabeca kopf голова", head=1.0),
    **_same("queue cola coda cauda rabo schwanz хвост", tail=1.0),
    # Japanese as in MMD, Chinese, Korean
    **_same("下半身 骨盤 骨盆 臀 盆骨 골반", pelvis=1.0),
    **_same("腰 허리", spine=0.6, pelvis=0.5),
    **_same("上半身 脊椎 脊柱 背骨 척추", spine=0.8, chest=0.7),
    **_same("胸 胸部 가슴", chest=1.0, spine=0.5),
    **_same("首 颈 脖子 頸 목", neck=1.0),
    **_same("頭 头 머리", head=1.0),
    **_same("尻尾 尾巴 尾 꼬리", tail=1.0),
}

THIGH = {"thigh": 1.0}
SHIN = {"shin": 1.0}
FOOT = {"foot": 1.0}
TOE = {"toe": 1.0}
CLAVICLE = {"clavicle": 1.0}
UPPER_ARM = {"upper_arm": 1.0}
FOREARM = {"forearm": 1.0}
HAND = {"hand": 1.0}

SIDED_PARTS: dict[str, Weights] = {
    "hip": {"thigh": 0.6},
    "hipjoint": {"hip_joint": 0.6},
    "buttock": {"thigh": 0.3},
    "shoulder": {"clavicle": 0.8, "upper_arm": 0.6},
    "shldr": {"clavicle": 0.5, "upper_arm": 0.7},
    **_same("shldrbend shldrtwist", upper_arm=1.0),
    "bicep": {"upper_arm": 0.9},
    "arm": {"upper_arm": 0.7, "forearm": 0.4, "hand": 0.1},
    "foreleg": {"upper_arm": 0.5, "forearm": 0.5},
    "ulna": {"forearm": 0.8},
    "leg": {"shin": 0.7, "thigh": 0.5, "foot": 0.1, "toe": 0.05},
    "foot": {"foot": 1.0, "toe": 0.35},
    "paw": {"foot": 0.6, "hand": 0.6, "toe": 0.5},
    "hoof": {"foot": 0.4, "hand": 0.4, "toe": 0.7},
    **_same("clavicle collar collarbone scapula", **CLAVICLE),
    **_same("upperarm uparm uarm armupper humerus", **UPPER_ARM),
    **_same("forearm farm lowerarm lowarm loarm larm armlower elbow radius", **FOREARM),
    **_same("hand wrist forefoot forepaw", **HAND),
    **_same("thigh upleg upperleg uleg legupper femur", **THIGH),
    **_same("shin calf knee lowerleg lowleg loleg lleg leglower tibia shank", **SHIN),
    **_same("ankle hock", **FOOT),
    **_same("metatarsal metatarsals", foot=0.5, toe=0.4),
    **_same("toe toes toebase ball toeend", **TOE),
    # French
    "epaule": {"clavicle": 0.8, "upper_arm": 0.6},
    "bras": {"upper_arm": 0.9, "forearm": 0.2},
    "jambe": {"shin": 0.7, "thigh": 0.4},
    **_same("clavicule", **CLAVICLE),
    **_same("avantbras coude", **FOREARM),
    **_same("main poignet", **HAND),
    **_same("cuisse hautdejambe", **THIGH),
    **_same("mollet genou", **SHIN),
    **_same("pied cheville", foot=1.0, toe=0.1),
    **_same("orteil orteils", **TOE),
    # Spanish and Portuguese
    **_same("hombro ombro", clavicle=0.8, upper_arm=0.6),
    **_same("brazo braco", upper_arm=0.9, forearm=0.2),
    **_same("pierna perna", shin=0.7, thigh=0.4),
    **_same("clavicula", **CLAVICLE),
    **_same("antebrazo antebraco codo cotovelo", **FOREARM),
    **_same("mano mao muneca pulso", **HAND),
    **_same("muslo coxa", **THIGH),
    **_same("pantorrilla rodilla canela panturrilha joelho", **SHIN),
    **_same("pie pe tobillo tornozelo", foot=1.0, toe=0.1),
    # Italian
    "spalla": {"clavicle": 0.8, "upper_arm": 0.6},
    "braccio": {"upper_arm": 0.9, "forearm": 0.2},
    "gamba": {"shin": 0.7, "thigh": 0.4},
    **_same("clavicola", **CLAVICLE),
    **_same("avambraccio gomito", **FOREARM),
    **_same("polso", **HAND),
    **_same("coscia", **THIGH),
    **_same("polpaccio ginocchio", **SHIN),
    **_same("piede caviglia", foot=1.0, toe=0.1),
    # German
    "schulter": {"clavicle": 0.8, "upper_arm": 0.6},
    **_same("schluesselbein schlusselbein", **CLAVICLE),
    **_same("oberarm", **UPPER_ARM),
    **_same("unterarm ellbogen", **FOREARM),
    **_same("handgelenk", **HAND),
    **_same("oberschenkel", **THIGH),
    **_same("unterschenkel knie wade", **SHIN),
    **_same("fuss", foot=1.0, toe=0.1),
    **_same("zeh zehe zehen", **TOE),
    # Russian
    "плечо": {"upper_arm": 0.8, "clavicle": 0.4},
    **_same("ключица", **CLAVICLE),
    **_same("предплечье локоть", **FOREARM),
    **_same("кисть рука запястье", **HAND),
    **_same("бедро", **THIGH),
    **_same("голень колено", **SHIN),
    **_same("стопа ступня", foot=1.0, toe=0.1),
    **_same("носок пальцыноги", **TOE),
    # Japanese, as in MMD
    "肩": {"clavicle": 0.9, "upper_arm": 0.4},
    "足": {"thigh": 0.9, "foot": 0.5},
    **_same("鎖骨", **CLAVICLE),
    **_same("腕 上腕", upper_arm=1.0),
    **_same("ひじ 肘 前腕", **FOREARM),
    **_same("手首", **HAND),
    "手": {"hand": 0.9},
    **_same("太もも 太腿 もも 大腿", **THIGH),
    **_same("ひざ 膝 すね 脛", **SHIN),
    **_same("足首", **FOOT),
    **_same("つま先 足先", **TOE),
    # Chinese
    **_same("锁骨 肩膀", **CLAVICLE),
    **_same("上臂 大臂 上手臂", **UPPER_ARM),
    **_same("前臂 小臂 下臂 肘部 手肘", **FOREARM),
    **_same("手腕 手掌", **HAND),
    **_same("大腿骨", **THIGH),
    **_same("小腿 膝盖", **SHIN),
    **_same("脚 脚踝 脚掌", foot=1.0, toe=0.1),
    **_same("脚趾 脚尖", **TOE),
    # Korean
    "어깨": {"clavicle": 0.9, "upper_arm": 0.4},
    **_same("쇄골", **CLAVICLE),
    **_same("위팔 상완 윗팔", **UPPER_ARM),
    **_same("아래팔 전완 팔꿈치 아랫팔", **FOREARM),
    **_same("손 손목", **HAND),
    **_same("허벅지", **THIGH),
    **_same("종아리 정강이 무릎", **SHIN),
    **_same("발 발목", foot=1.0, toe=0.1),
    **_same("발가락 발끝", **TOE),
}

ROLE_OF_FRONT_LEG = {"thigh": "upper_arm", "shin": "forearm", "foot": "hand", "toe": "finger"}
"""What a part named as of a hind leg is, when its name also says that it stands in front."""

KNOWN = set(MIDDLE_PARTS) | set(SIDED_PARTS) | CONTROL | RIDING | TWIST | FINGER | FRONT | HIND | PREFIXES
