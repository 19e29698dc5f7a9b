//! What the made-up patients do for a living.

use super::draw::Draw;

/// Sector, field and profession, with the share among people of working age.
const PROFESSIONS: &[(&str, &str, &str, i64)] = &[
    ("care and state", "health", "nurse", 40),
    ("care and state", "health", "physician", 12),
    ("care and state", "health", "carer", 30),
    ("care and state", "health", "pharmacist", 8),
    ("care and state", "teaching", "teacher", 34),
    ("care and state", "teaching", "lecturer", 8),
    ("care and state", "teaching", "childminder", 14),
    ("care and state", "public service", "police officer", 12),
    ("care and state", "public service", "registrar", 20),
    ("care and state", "public service", "firefighter", 6),
    ("making and moving", "crafts", "electrician", 22),
    ("making and moving", "crafts", "plumber", 16),
    ("making and moving", "crafts", "carpenter", 18),
    ("making and moving", "crafts", "mechanic", 24),
    ("making and moving", "industry", "machinist", 22),
    ("making and moving", "industry", "welder", 14),
    ("making and moving", "industry", "assembler", 26),
    ("making and moving", "transport", "bus driver", 14),
    ("making and moving", "transport", "truck driver", 24),
    ("making and moving", "transport", "warehouse worker", 32),
    ("making and moving", "land", "farmer", 14),
    ("making and moving", "land", "gardener", 10),
    ("making and moving", "land", "forester", 4),
    ("serving and planning", "services", "cook", 24),
    ("serving and planning", "services", "waiter", 20),
    ("serving and planning", "services", "hairdresser", 14),
    ("serving and planning", "services", "cleaner", 28),
    ("serving and planning", "services", "shop assistant", 44),
    ("serving and planning", "office", "accountant", 22),
    ("serving and planning", "office", "secretary", 30),
    ("serving and planning", "office", "banker", 14),
    ("serving and planning", "office", "lawyer", 8),
    ("serving and planning", "technology", "programmer", 22),
    ("serving and planning", "technology", "engineer", 26),
    ("serving and planning", "technology", "architect", 6),
    ("serving and planning", "technology", "scientist", 8),
];

/// Professions of those who do not work for pay; one level less, as trees may have.
const OTHERS: &[&str] = &[
    "small child",
    "pupil",
    "student",
    "homemaker",
    "unemployed",
    "retired",
];

/// A profession that fits the age.
pub fn of_age(draw: &mut Draw, age: i64) -> &'static str {
    match age {
        ..6 => "small child",
        6..18 => "pupil",
        18..26 if draw.percent(45) => "student",
        63..67 if draw.percent(50) => "retired",
        67.. if draw.percent(95) => "retired",
        _ if draw.percent(7) => "homemaker",
        _ if draw.percent(7) => "unemployed",
        _ => PROFESSIONS[draw.weighted(PROFESSIONS.iter().map(|each| each.3))].2,
    }
}

/// Profession, field, sector, any; those without paid work have no field.
pub fn hierarchy() -> String {
    let paid = PROFESSIONS
        .iter()
        .map(|(sector, field, name, _)| format!("{name};{field};{sector};*\n"));
    let others = OTHERS
        .iter()
        .map(|name| format!("{name};without paid work;*\n"));
    paid.chain(others).collect()
}
