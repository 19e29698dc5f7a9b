//! A made-up region: counties, towns, districts, and the funds that insure people.

use super::draw::Draw;

/// County, town, relative size, number of districts.
const TOWNS: &[(&str, &str, i64, usize)] = &[
    ("Eastmark", "Aldermoor", 9, 4),
    ("Eastmark", "Brackenford", 4, 3),
    ("Eastmark", "Cawdale", 2, 2),
    ("Northmark", "Dunmere", 7, 4),
    ("Northmark", "Elmsworth", 3, 3),
    ("Northmark", "Fallowick", 2, 2),
    ("Westmark", "Greywater", 6, 4),
    ("Westmark", "Hollinbridge", 3, 3),
    ("Westmark", "Ivelstead", 2, 2),
    ("Southmark", "Jarrowby", 5, 4),
    ("Southmark", "Kestrelholm", 3, 3),
    ("Southmark", "Lindenau", 1, 2),
];

const DISTRICTS: &[&str] = &["Centre", "North", "South", "Harbour"];

/// Sickness funds and their relative size; none has a twelfth of the people.
const FUNDS: &[(&str, i64)] = &[
    ("Amber Fund", 60),
    ("Beacon Mutual", 58),
    ("Cedar Health", 56),
    ("Compass Fund", 54),
    ("Crown Mutual", 52),
    ("Delta Care", 50),
    ("Evergreen Fund", 48),
    ("Falcon Health", 46),
    ("Guild Fund", 44),
    ("Harvest Mutual", 42),
    ("Ivory Care", 40),
    ("Juniper Health", 38),
    ("Keystone Fund", 36),
    ("Lantern Mutual", 34),
    ("Meridian Care", 32),
    ("Northern Fund", 30),
    ("Orchard Health", 28),
    ("Pioneer Mutual", 26),
    ("Quarry Fund", 24),
    ("Rampart Care", 22),
    ("Sterling Private", 24),
    ("Tower Private", 22),
    ("Union Private", 20),
    ("Vantage Private", 18),
];

/// A district, larger towns more often.
pub fn district(draw: &mut Draw) -> String {
    let (_, town, _, districts) = TOWNS[draw.weighted(TOWNS.iter().map(|town| town.2))];
    let index = draw.between(0, districts as i64 - 1) as usize;
    format!("{town} {}", DISTRICTS[index])
}

/// A fund; some professions are privately insured more often.
pub fn insurer(draw: &mut Draw, profession: &str) -> &'static str {
    let often = ["physician", "lawyer", "banker", "architect"].contains(&profession);
    let weight = |(name, weight): &(&str, i64)| {
        if often && name.ends_with("Private") {
            weight * 3
        } else {
            *weight
        }
    };
    FUNDS[draw.weighted(FUNDS.iter().map(weight))].0
}

/// District, town, county, everywhere.
pub fn hierarchy() -> String {
    let lines = TOWNS.iter().flat_map(|(county, town, _, districts)| {
        DISTRICTS[..*districts]
            .iter()
            .map(move |district| format!("{town} {district};{town};{county};*\n"))
    });
    lines.collect()
}
