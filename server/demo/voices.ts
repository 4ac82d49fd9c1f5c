/** Composes titles and texts from lists of phrases, one set for each creator. */
import { pickAt, pickRandom, type NonEmptyArray } from "./random.ts";

/** The phrases of a creator. A text is an opening, a subject and a closing. */
export interface Voice {
  readonly openings: NonEmptyArray<string>;
  readonly subjects: NonEmptyArray<string>;
  readonly closings: NonEmptyArray<string>;
  /** The text between opening and subject: empty in scripts without spaces. */
  readonly gap: "" | " ";
}

/**
 * Composes a text.
 *
 * @param sequence The number of the post: subjects take turns, so that neighbouring posts differ.
 */
export function composeText(voice: Voice, seed: number, sequence: number): string {
  const opening = pickRandom(voice.openings, seed, 1);
  const subject = pickAt(voice.subjects, sequence);
  return opening + voice.gap + subject + pickRandom(voice.closings, seed, 2);
}

export const POTTERY: Voice = {
  openings: ["Throwing", "Glazing", "Trimming", "Rescuing", "Unboxing from the kiln:"],
  subjects: [
    "a lopsided mug",
    "forty tiny bowls",
    "a moon jar",
    "the blue teapot",
    "a plate that cracked",
    "one very tall vase",
    "a butter dish",
  ],
  closings: ["", " in 60 seconds", " 🏺", " (the glaze did WHAT?)", ", no talking", " 🔥🔥"],
  gap: " ",
};

export const GARDEN: Voice = {
  openings: ["How I prune", "Day 30 of growing", "Never water", "Three mistakes with", "Meet"],
  subjects: [
    "a balcony lemon tree",
    "figs in a bucket",
    "strawberries on a wall",
    "a pear from a seed",
    "my grumpiest tomato",
    "mint (it escaped again)",
    "winter lettuce",
  ],
  closings: ["", " 🌱", " 🍋", " like this", " — before & after", " on 2 m²"],
  gap: " ",
};

export const SOUP: Voice = {
  openings: ["7 minutes:", "One pot, one spoon:", "Late-night", "Rainy day", "The laziest"],
  subjects: [
    "red lentil soup",
    "miso with leftover greens",
    "roasted tomato soup",
    "garlic broth",
    "corn chowder",
    "noodle soup",
    "beetroot soup",
    "pumpkin soup",
    "white bean soup",
  ],
  closings: ["", " 🍲", " 🍜😋", " — under 3 €", " (my gran's version)", " | no blender", "!"],
  gap: " ",
};

export const REPAIR: Voice = {
  openings: [
    "Can we save",
    "Full teardown of",
    "What killed",
    "Oil, patience and",
    "100 years old:",
  ],
  subjects: [
    "a seized desk fan",
    "a barn-find sewing machine",
    "the neighbour's lawn mower",
    "a hand-cranked drill",
    "a flooded mixer",
    "a music box",
  ],
  closings: ["?", "", " 🔧", " (part 2)", " — first start!", ' with a 10" spanner'],
  gap: " ",
};

export const KITCHEN_ARABIC: Voice = {
  openings: ["أسرع طريقة لعمل", "سر نجاح", "وصفة اليوم:", "جربوا معي", "بدون فرن:"],
  subjects: [
    "خبز الزعتر",
    "شوربة العدس",
    "كعك السميد",
    "سلطة الباذنجان",
    "أرز بالحليب",
    "فطائر السبانخ",
  ],
  closings: ["", " في دقيقة واحدة", " 😍", " للمبتدئين", " بثلاثة مكونات"],
  gap: " ",
};

export const CATS_JAPANESE: Voice = {
  openings: ["朝から", "雪の日に", "こっそり", "はじめて", "今日も"],
  subjects: [
    "こたつを独占する猫",
    "窓辺で眠る三毛",
    "箱に入りきらない猫",
    "おやつを待つ二匹",
    "足跡を追いかける子猫",
    "掃除機とにらめっこ",
  ],
  closings: ["", "🐈", "【60秒】", "❄️", "…かわいすぎる", " #ねこ"],
  gap: "",
};

export const TRAINS: Voice = {
  openings: ["Front seat:", "Night ride over", "First snow on", "Waiting for", "The sound of"],
  subjects: [
    "the Kaltbrunn viaduct",
    "the rack railway at dawn",
    "platform 0",
    "the nine-bend tunnel",
    "the last milk train",
    "the high pass",
  ],
  closings: ["", " 🚂", " 🏔️", " (4K)", " at –18 °C", " — no music"],
  gap: " ",
};

export const MUSIC: Voice = {
  openings: ["Why you love", "I only used", "Hear the difference:", "Guess the key of", "Playing"],
  subjects: [
    "the flat sixth",
    "two chords",
    "a broken metronome",
    "parallel fifths",
    "the slowest waltz",
    "one string",
  ],
  closings: ["", " 🎹", " 🎶", " — a 45-second lesson", " (wait for it…)", " & regret nothing"],
  gap: " ",
};

export const CODE: Voice = {
  openings: [
    "Today I learned:",
    "Hot take:",
    "Ask me about",
    "Spent the morning on",
    "Still proud of",
  ],
  subjects: [
    "a cache with no way to clear it",
    "the test that only fails on Tuesdays",
    "deleting 900 lines",
    "an index nobody queries",
    "a <script> tag & its quoting",
    "reading the error message",
    "a lock held across a network call",
    "naming things",
    "a migration that ran twice",
  ],
  closings: [".", " 🐢", ".\n\nThread below.", " — change my mind", ". Send coffee ☕", "…"],
  gap: " ",
};

export const HARBOUR: Voice = {
  openings: [
    "Seen at dawn:",
    "Arrived:",
    "Delayed by fog:",
    "Harbour notes:",
    "Departing tonight:",
  ],
  subjects: [
    "the cement carrier at berth 4",
    "two tugs and a very small ferry",
    "the dredger nobody ordered",
    "a sailing school, 14 boats",
    "the grain barge",
    "a seal on the slipway",
  ],
  closings: [".", " ⚓", " 🌫️", ". Wind SW 5.", ". High water 06:42.", " (photo tomorrow)"],
  gap: " ",
};

export const NIGHT_BUS: Voice = {
  openings: ["Overheard on the N7:", "Driver's log:", "Last stop:", "Upper deck:"],
  subjects: [
    "\"it's not lost, it's travelling\"",
    "someone knitting a whole sleeve",
    "a cello with its own ticket",
    "three nurses, one birthday cake",
    "the dog that knows the route",
  ],
  closings: ["", " 🌙", " 🚌💤", ". Good night.", ", 02:17"],
  gap: " ",
};

export const STATIC: Voice = {
  openings: ["Nobody talks about", "Unpopular opinion:", "Delete this:", "Everyone is wrong about"],
  subjects: [
    "shortwave at 3 a.m.",
    "antenna length",
    "the hum in your amplifier",
    "ground loops",
    "valve radios",
  ],
  closings: [".", "!!", " 📻", ". Mute me if you must.", ", again."],
  gap: " ",
};

export const BAKERY_JAPANESE: Voice = {
  openings: ["焼きたて:", "本日の", "試作中の", "売り切れました。", "明日は"],
  subjects: ["塩パン", "クリームパン", "いちじくの食パン", "あんバター", "星形のメロンパン"],
  closings: ["🥐", "です。", "、あと三つ!", "🌟", "(小さめ)"],
  gap: "",
};

export const POEMS_ARABIC: Voice = {
  openings: ["صباح الخير من", "كتبت اليوم عن", "ما زلت أفكر في", "سطر واحد عن"],
  subjects: ["شرفة تطل على البحر", "رائحة المطر", "قطار لا يصل", "فنجان القهوة", "حديقة جدتي"],
  closings: [".", " ☕", " 🌙", "…", " — ما رأيكم؟"],
  gap: " ",
};
