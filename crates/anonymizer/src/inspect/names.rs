//! What the name of a column says that it holds.
//!
//! Names are read in English, German, French, Spanish, Italian and Dutch, as
//! exports have them: `birth_date`, `BirthDate`, `Geburtsdatum`. A name is a
//! hint that the cells must agree with; it never decides against them.

use serde::Serialize;

/// What a column may hold, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// A number of the person: patient, subject, member.
    PersonNumber,
    /// A number of a visit, a case or a record.
    CaseNumber,
    /// A number of a register, an insurer, an account, a device, a plate.
    OtherNumber,
    /// Names of people.
    Name,
    /// Street and house.
    Address,
    /// Telephone, fax, mail, web or network address, photograph.
    Contact,
    /// Day of birth.
    BirthDate,
    /// Year or month of birth, age.
    Age,
    /// Another day: of admission, of discharge, of death.
    Day,
    /// Sex or gender.
    Sex,
    /// Postal code.
    PostalCode,
    /// City, county, region, country.
    Place,
    /// Origin, language, religion, marital status, education, profession,
    /// household: what neighbours know.
    Social,
    /// Department, ward, hospital, way of admission and discharge, insurer.
    Care,
    /// Length of a stay, hours of work: numbers that others may know.
    Duration,
    /// Diagnosis or condition.
    Diagnosis,
    /// Procedure or operation.
    Procedure,
    /// Medication.
    Medication,
    /// Laboratory value, score or finding.
    Finding,
    /// Cost, charge, income, salary.
    Money,
    /// Free text.
    Text,
}

impl Meaning {
    /// What the name says, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::PersonNumber => "a number of the person",
            Self::CaseNumber => "a number of a visit, a case or a record",
            Self::OtherNumber => "a number of a register, an insurer, an account or a device",
            Self::Name => "a name of a person",
            Self::Address => "an address",
            Self::Contact => "a way to reach a person",
            Self::BirthDate => "a day of birth",
            Self::Age => "an age",
            Self::Day => "a day that others may know",
            Self::Sex => "a sex",
            Self::PostalCode => "a postal code",
            Self::Place => "a place",
            Self::Social => "what neighbours know of a person",
            Self::Care => "where and how a person was cared for",
            Self::Duration => "a duration that others may know",
            Self::Diagnosis => "a diagnosis",
            Self::Procedure => "a procedure",
            Self::Medication => "a medication",
            Self::Finding => "a laboratory value or a finding",
            Self::Money => "an amount of money",
            Self::Text => "free text",
        }
    }
}

/// Whole words of names, parted by spaces, and what they say.
const WORDS: &[(Meaning, &str)] = &[
    (
        Meaning::PersonNumber,
        "pid mrn ipp nip pat patno patnr subject subjid usubjid person patient participant member \
         client individual",
    ),
    (
        Meaning::CaseNumber,
        "id rowid number nummer num numero key uid guid uuid fall case visit encounter stay no nr index",
    ),
    (
        Meaning::OtherNumber,
        "ssn nhs nir bsn dni nif cpf ahv iban vin imei mac npi svnr kvnr ssin insee",
    ),
    (
        Meaning::Name,
        "name nom nombre apellido cognome prenom naam initials",
    ),
    (
        Meaning::Address,
        "lat lon lng latitude longitude gps coord coordinates geo address street rue calle via straat house",
    ),
    (
        Meaning::Contact,
        "email mail phone tel fax mobile handy url ip photo website",
    ),
    (Meaning::BirthDate, "dob birthdate birthday gebdat gebdatum"),
    (Meaning::Age, "age alter edad eta leeftijd yob gebjahr"),
    (
        Meaning::Day,
        "date datum day fecha data admitted discharged admission discharge dod",
    ),
    (Meaning::Sex, "sex gender sexe sexo sesso geschl geslacht"),
    (Meaning::PostalCode, "zip plz cp cap zipcode postcode"),
    (
        Meaning::Place,
        "city town ort ville county state region country land province district kreis \
         canton gemeinde comune pays pais",
    ),
    (
        Meaning::Social,
        "race ethnicity religion language education job beruf occupation profession \
         workclass relationship marital nationality housing household children school \
         degree worker",
    ),
    (
        Meaning::Care,
        "ward unit department dept clinic hospital station insurance payer disposition \
         physician doctor provider arzt site",
    ),
    (Meaning::Duration, "los hours duration verweildauer days"),
    (
        Meaning::Diagnosis,
        "icd icd9 icd10 dx diag condition disease comorbidity drg cause illness krankheit \
         hiv",
    ),
    (Meaning::Procedure, "ops cpt procedure surgery operation px"),
    (
        Meaning::Medication,
        "atc drug medication med rx treatment therapy",
    ),
    (
        Meaning::Finding,
        "lab labs dose dosage result score bmi weight height pressure glucose value test finding \
         stage grade",
    ),
    (
        Meaning::Money,
        "cost costs charge charges income salary wage gehalt kosten price amount payment \
         debt eur usd",
    ),
    (
        Meaning::Text,
        "comment comments note notes text remark remarks description freetext letter \
         epikrise anamnesis anamnese befund",
    ),
];

/// Parts of words, parted by spaces, for names that are written in one.
const PARTS: &[(Meaning, &str)] = &[
    (
        Meaning::OtherNumber,
        "versicherungsn versichertenn policy sozialversicherung versichertennr versichertennummer krankenversicherten \
         socialsecurity nationalid accountn kontonummer licence license passport \
         numerosecu steuer personnummer rijksregister codicefiscale serialn deviceid \
         healthplan",
    ),
    (
        Meaning::PersonNumber,
        "patientenn patientid patientnr patientno patientnumber personid personnr \
         subjectid memberid medicalrecord patid paciente paziente beneficiary",
    ),
    (
        Meaning::CaseNumber,
        "fallnummer fallnr fallid casenumber caseid encounterid visitid visitn recordid \
         recordn aufnahmenummer hadm",
    ),
    (
        Meaning::Name,
        "nachname vorname lastname firstname surname forename familyname givenname \
         fullname middlename maidenname familienname geburtsname achternaam voornaam",
    ),
    (
        Meaning::Address,
        "address adresse anschrift strasse street direccion indirizzo hausn hausnummer",
    ),
    (
        Meaning::Contact,
        "telefon telephone phone email mobil emergencycontact",
    ),
    (
        Meaning::BirthDate,
        "birthdate dateofbirth geburtsdatum geburtstag naissance nacimiento \
         nascita geboortedatum",
    ),
    (
        Meaning::Age,
        "birthyear yearofbirth birthmonth geburtsjahr annee anonacimiento",
    ),
    (
        Meaning::Day,
        "aufnahmedatum entlassungsdatum admissiondate admitdate dischargedate deathdate \
         dateofdeath todesdatum admittime dischtime datum date",
    ),
    (Meaning::Sex, "geschlecht"),
    (
        Meaning::PostalCode,
        "postleitzahl postalcode zipcode codepostal codigopostal",
    ),
    (
        Meaning::Place,
        "wohnort birthplace geburtsort bundesland landkreis municipality country",
    ),
    (
        Meaning::Social,
        "familienstand marital civilstatus ethnic religion konfession nationality \
         staatsang education schulbildung occupation profession employment language \
         muttersprache",
    ),
    (
        Meaning::Care,
        "fachabteilung abteilung entlassungsart aufnahmeart einweis versicherung \
         insurance hospital krankenhaus klinik department physician dischargelocation \
         admissiontype payertype",
    ),
    (
        Meaning::Duration,
        "verweildauer lengthofstay hoursper liegedauer",
    ),
    (
        Meaning::Diagnosis,
        "diagnos hauptdiag nebendiag condition disease krankheit erkrankung",
    ),
    (Meaning::Procedure, "prozedur procedure operation eingriff"),
    (
        Meaning::Medication,
        "medik medication prescription wirkstoff arznei",
    ),
    (
        Meaning::Finding,
        "labor labwert laborwert messwert bloodpressure blutdruck hemoglobin",
    ),
    (
        Meaning::Money,
        "kosten gehalt einkommen income salary charges erloes honorar",
    ),
    (
        Meaning::Text,
        "freitext freetext bemerkung comment kommentar arztbrief epikrise anamnese",
    ),
];

/// What the name of a column says.
pub(super) fn meaning_of(name: &str) -> Option<Meaning> {
    let words = words_of(name);
    let joined: String = words.concat();
    let part = PARTS
        .iter()
        .find(|(_, parts)| parts.split(' ').any(|part| joined.contains(part)))
        .map(|(meaning, _)| *meaning);
    let word_meaning = |word: &String| {
        let found = WORDS
            .iter()
            .find(|(_, words)| words.split(' ').any(|one| one == word));
        found.map(|(meaning, _)| *meaning)
    };
    let by_words: Vec<Meaning> = words.iter().filter_map(word_meaning).collect();
    let is_numbered = by_words.contains(&Meaning::CaseNumber);
    // `patient_id` is the person's; `birth_date` no other day; `lab_…` a finding.
    let of_words = match by_words.first() {
        Some(Meaning::CaseNumber) => by_words.get(1).copied().or(Some(Meaning::CaseNumber)),
        Some(Meaning::Name | Meaning::Day) if by_words.len() > 1 => Some(by_words[1]),
        first => first.copied(),
    };
    let is_birth = words
        .iter()
        .any(|word| word.starts_with("birth") || word == "born");
    match of_words {
        _ if is_birth && by_words.contains(&Meaning::Name) => Some(Meaning::Name),
        _ if is_birth && by_words.contains(&Meaning::Day) => Some(Meaning::BirthDate),
        _ if is_birth => Some(part.unwrap_or(Meaning::Age)),
        // `patient_age` is an age, and `client_type` nobody's number.
        Some(Meaning::PersonNumber) if !is_numbered && words.len() > 1 => {
            by_words.get(1).copied().or(part)
        }
        Some(Meaning::Finding | Meaning::Medication | Meaning::Diagnosis) => of_words,
        _ => part.or(of_words),
    }
}

/// Last words of names of columns that number something.
const NUMBER_WORDS: [&str; 13] = [
    "id", "rowid", "key", "uid", "guid", "uuid", "no", "nr", "num", "number", "nummer", "numero",
    "index",
];

/// Whether a name says that the column holds numbers of something.
pub(super) fn says_number(name: &str) -> bool {
    let words = words_of(name);
    let numbers = ["number", "nummer", "numero", "nr", "kennung", "serial"];
    let joined = words.concat();
    let is_number = |word: &String| NUMBER_WORDS.contains(&word.as_str());
    // `number_of_visits` is a count.
    words.last().is_some_and(is_number)
        || words.iter().any(|word| word == "id")
        || numbers.iter().any(|end| joined.ends_with(end))
}

/// The words of a name, in lower case without accents.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    let mut is_open = false;
    for one in name.chars() {
        if !one.is_alphanumeric() {
            is_open = false;
            continue;
        }
        if !is_open || (one.is_uppercase() && was_lower) {
            words.push(String::new());
            is_open = true;
        }
        was_lower = one.is_lowercase() || one.is_ascii_digit();
        if let Some(word) = words.last_mut() {
            one.to_lowercase()
                .for_each(|letter| push_plain(letter, word));
        }
    }
    words
}

fn push_plain(letter: char, word: &mut String) {
    match letter {
        'ä' => word.push_str("ae"),
        'ö' => word.push_str("oe"),
        'ü' => word.push_str("ue"),
        'ß' => word.push_str("ss"),
        'á' | 'à' | 'â' => word.push('a'),
        'é' | 'è' | 'ê' => word.push('e'),
        'í' | 'ì' | 'î' => word.push('i'),
        'ó' | 'ò' | 'ô' => word.push('o'),
        'ú' | 'ù' | 'û' => word.push('u'),
        'ñ' => word.push('n'),
        'ç' => word.push('c'),
        other => word.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_that_a_column_holds_numbers_of_something() {
        for name in [
            "stay_id",
            "insurance_id",
            "Rufnummer",
            "rx_number",
            "treatmentId",
            "Konto_Nr",
        ] {
            assert!(says_number(name), "{name}");
        }
        for name in ["stay", "age", "idea", "ward", "number_of_visits", "num_lab"] {
            assert!(!says_number(name), "{name}");
        }
    }

    #[test]
    fn names_of_exports_say_what_they_hold() {
        use Meaning::{
            Address, Age, BirthDate, Care, CaseNumber, Contact, Day, Diagnosis, Duration, Finding,
            Money, Name, OtherNumber, PersonNumber, Place, PostalCode, Sex, Social, Text,
        };
        for (name, meaning) in [
            ("id", Some(CaseNumber)),
            ("patient_id", Some(PersonNumber)),
            ("PatientID", Some(PersonNumber)),
            ("Patientennr", Some(PersonNumber)),
            ("person", Some(PersonNumber)),
            ("patient_name", Some(Name)),
            ("patient_age", Some(Age)),
            ("Fallnummer", Some(CaseNumber)),
            ("encounter_id", Some(CaseNumber)),
            ("Sozialversicherungsnr", Some(OtherNumber)),
            ("Krankenversichertennr", Some(OtherNumber)),
            ("ssn", Some(OtherNumber)),
            ("Nachname", Some(Name)),
            ("last_name", Some(Name)),
            ("Telefon", Some(Contact)),
            ("Geburtsdatum", Some(BirthDate)),
            ("birth_date", Some(BirthDate)),
            ("Date de naissance", Some(BirthDate)),
            ("fecha_nacimiento", Some(BirthDate)),
            ("dateOfBirth", Some(BirthDate)),
            ("birth_year", Some(Age)),
            ("birth_month", Some(Age)),
            ("Alter", Some(Age)),
            ("Geschlecht", Some(Sex)),
            ("PLZ", Some(PostalCode)),
            ("zip_code", Some(PostalCode)),
            ("native_country", Some(Place)),
            ("marital_status", Some(Social)),
            ("Familienstand", Some(Social)),
            ("hours_per_week", Some(Duration)),
            ("length_of_stay", Some(Duration)),
            ("Aufnahmedatum", Some(Day)),
            ("admitted", Some(Day)),
            ("Fachabteilung", Some(Care)),
            ("Versicherung", Some(Care)),
            ("Hauptdiagnose", Some(Diagnosis)),
            ("icd_code", Some(Diagnosis)),
            ("Kosten_EUR", Some(Money)),
            ("salary_class", Some(Money)),
            ("Lab_Hb_g_dl", Some(Finding)),
            ("Epikrise", Some(Text)),
            ("birth_name", Some(Name)),
            ("Pat_Nr", Some(PersonNumber)),
            ("client_type", None),
            ("latitude", Some(Address)),
            ("Versicherungsnummer", Some(OtherNumber)),
            ("x17", None),
            ("", None),
        ] {
            assert_eq!(meaning_of(name), meaning, "{name}");
        }
    }
}
