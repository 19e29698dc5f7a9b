//! A small picture of what each engine publishes.
//!
//! Five people, one below the other: at the left what others may know of them, at
//! the right what would hurt. A bar of its own length is a value as it is, bars of
//! one length in a frame are values that were made alike, dots are sensitive values.
//! The words beside a picture say the same, so it is hidden from screen readers.

use maud::{Markup, html};

/// Heights of the five people.
const ROWS: [u32; 5] = [8, 20, 32, 44, 56];
/// Lengths of their values.
const LENGTHS: [u32; 5] = [38, 22, 46, 30, 14];

/// The picture of an engine; that of plain generalization where there is none.
pub fn picture(engine: &str) -> Markup {
    html! {
        svg.mini viewBox="0 0 128 68" aria-hidden="true" focusable="false" {
            @match engine {
                "slicing" => { (exact()) (frame(4, 2, 52, 62)) (dots(76)) (frame(66, 2, 30, 62))
                    path d="M54 10 66 34 M54 22 66 58 M54 34 66 10 M54 46 66 22 M54 58 66 46" {} },
                "anatomy" => { (exact()) (frame(80, 2, 28, 28)) (frame(80, 36, 28, 28)) (bucket(86, 16)) (bucket(86, 50))
                    path d="M58 12 80 14 M58 24 80 16 M58 48 80 50 M58 60 80 52" {} },
                "aip" => { (exact()) (frame(80, 8, 40, 50)) (bucket(86, 22)) (bucket(100, 36)) (bucket(86, 48))
                    path d="M60 32H80" {} },
                "arp" => { (exact()) @for y in ROWS { (frame(74, y - 6, 40, 10)) (bucket(80, y - 1)) } },
                "ng" => { (alike(2, 38)) (frame(2, 26, 56, 40)) (dots(76)) },
                "personalized" => { (alike(2, 26)) (frame(4, 30, 52, 14)) (frame(4, 48, 52, 16)) (dots(76))
                    path d="M96 2V28M96 30V44M96 48V64" {} },
                "one_to_many" | "rmr" => { (alike(2, 62)) @for y in [14, 34, 54] { (frame(74, y - 8, 46, 16)) (bucket(80, y)) (bucket(100, y)) } },
                "lgb" => { (alike(2, 30)) (frame(4, 36, 52, 28)) (frame(84, 2, 28, 28)) (frame(84, 36, 28, 28)) (bucket(90, 16)) (bucket(90, 50))
                    path d="M56 16H84M56 50H84" {} },
                _ => { (alike(2, 30)) (frame(4, 36, 52, 28)) (dots(76)) },
            }
        }
    }
}

/// Values as they are.
fn exact() -> Markup {
    html! {
        @for (y, length) in ROWS.iter().zip(LENGTHS) {
            rect x="8" y=(y) width=(length) height="5" {}
        }
    }
}

/// Values that were made alike, the upper of them in a frame.
fn alike(y: u32, height: u32) -> Markup {
    html! {
        @for y in ROWS { rect x="8" y=(y) width="44" height="5" {} }
        (frame(4, y, 52, height))
    }
}

fn frame(x: u32, y: u32, width: u32, height: u32) -> Markup {
    html! { rect.frame x=(x) y=(y) width=(width) height=(height) rx="3" {} }
}

/// One sensitive value of each person.
fn dots(x: u32) -> Markup {
    html! { @for y in ROWS { circle cx=(x) cy=(y + 2) r="4" {} } }
}

/// Sensitive values that are shown together.
fn bucket(x: u32, y: u32) -> Markup {
    html! { circle cx=(x) cy=(y) r="3" {} circle cx=(x + 9) cy=(y) r="3" {} }
}
