//! Why the made-up patients are in hospital: a short cut of ICD-10.
//!
//! The codes and their chapters are ICD-10's, the blocks are coarser, and every
//! number is a guess that makes the sample look like a hospital, no statistic.

/// One reason for an admission and what tends to go with it.
pub struct Diagnosis {
    /// Top level below the root.
    pub chapter: &'static str,
    /// Level between chapter and diagnosis.
    pub block: &'static str,
    /// Code and name: the value in the table.
    pub name: &'static str,
    /// How frequent it is, beside the others.
    pub weight: i64,
    /// Typical age in years.
    pub age: i64,
    /// Standard deviation of the age in years.
    pub age_spread: i64,
    /// Women among a hundred patients.
    pub women_percent: i64,
    /// Typical days in hospital.
    pub days: i64,
    /// Euros a day.
    pub daily_cost: i64,
}

/// Every diagnosis of the sample; none is of more than one patient in twelve.
#[rustfmt::skip]
pub const DIAGNOSES: &[Diagnosis] = &[
    diagnosis("circulatory", "Heart", "I20 Angina pectoris", [26, 67, 10, 38, 5, 620]),
    diagnosis("circulatory", "Heart", "I21 Acute myocardial infarction", [30, 68, 11, 36, 8, 980]),
    diagnosis("circulatory", "Heart", "I25 Chronic heart disease", [28, 70, 9, 32, 5, 760]),
    diagnosis("circulatory", "Heart", "I48 Atrial fibrillation", [32, 72, 10, 47, 5, 560]),
    diagnosis("circulatory", "Heart", "I50 Heart failure", [38, 78, 9, 51, 10, 480]),
    diagnosis("circulatory", "Vessels", "I10 High blood pressure", [16, 66, 13, 58, 4, 380]),
    diagnosis("circulatory", "Vessels", "I26 Pulmonary embolism", [10, 66, 14, 52, 8, 590]),
    diagnosis("circulatory", "Vessels", "I63 Stroke", [30, 74, 11, 47, 11, 640]),
    diagnosis("circulatory", "Vessels", "I70 Atherosclerosis", [16, 71, 9, 36, 8, 690]),
    diagnosis("circulatory", "Vessels", "I80 Thrombophlebitis", [8, 60, 16, 54, 5, 410]),
    diagnosis("respiratory", "Infections of the airways", "J06 Cold with fever", [10, 8, 9, 46, 3, 340]),
    diagnosis("respiratory", "Infections of the airways", "J10 Influenza", [10, 48, 24, 51, 5, 400]),
    diagnosis("respiratory", "Infections of the airways", "J18 Pneumonia", [30, 66, 22, 45, 9, 460]),
    diagnosis("respiratory", "Infections of the airways", "J20 Acute bronchitis", [12, 20, 24, 47, 4, 350]),
    diagnosis("respiratory", "Chronic lung disease", "J42 Chronic bronchitis", [8, 65, 11, 44, 7, 390]),
    diagnosis("respiratory", "Chronic lung disease", "J44 Chronic obstructive lung disease", [28, 69, 9, 45, 9, 470]),
    diagnosis("respiratory", "Chronic lung disease", "J45 Asthma", [10, 34, 22, 57, 4, 380]),
    diagnosis("respiratory", "Chronic lung disease", "J96 Respiratory failure", [12, 70, 14, 44, 12, 1100]),
    diagnosis("digestive", "Stomach and gullet", "K21 Reflux disease", [8, 54, 17, 53, 3, 420]),
    diagnosis("digestive", "Stomach and gullet", "K25 Stomach ulcer", [8, 65, 15, 46, 6, 560]),
    diagnosis("digestive", "Stomach and gullet", "K29 Gastritis", [12, 50, 20, 56, 4, 400]),
    diagnosis("digestive", "Bowel", "K35 Appendicitis", [18, 28, 16, 47, 4, 720]),
    diagnosis("digestive", "Bowel", "K40 Hernia of the groin", [18, 58, 17, 12, 2, 900]),
    diagnosis("digestive", "Bowel", "K50 Crohn's disease", [6, 36, 14, 54, 7, 520]),
    diagnosis("digestive", "Bowel", "K52 Inflammation of the bowel", [12, 42, 26, 55, 4, 370]),
    diagnosis("digestive", "Bowel", "K56 Bowel obstruction", [14, 69, 15, 54, 8, 590]),
    diagnosis("digestive", "Bowel", "K57 Diverticular disease", [16, 65, 13, 56, 6, 510]),
    diagnosis("digestive", "Liver and bile", "K70 Alcoholic liver disease", [10, 56, 10, 30, 10, 540]),
    diagnosis("digestive", "Liver and bile", "K80 Gallstones", [26, 57, 17, 63, 5, 730]),
    diagnosis("digestive", "Liver and bile", "K85 Acute pancreatitis", [12, 57, 16, 45, 9, 610]),
    diagnosis("neoplasms", "Digestive cancer", "C15 Cancer of the gullet", [4, 67, 9, 24, 12, 820]),
    diagnosis("neoplasms", "Digestive cancer", "C16 Cancer of the stomach", [5, 69, 11, 40, 12, 810]),
    diagnosis("neoplasms", "Digestive cancer", "C18 Cancer of the colon", [12, 71, 10, 46, 12, 790]),
    diagnosis("neoplasms", "Digestive cancer", "C25 Cancer of the pancreas", [7, 70, 10, 49, 11, 840]),
    diagnosis("neoplasms", "Other cancer", "C34 Cancer of the lung", [18, 68, 9, 38, 9, 800]),
    diagnosis("neoplasms", "Other cancer", "C50 Cancer of the breast", [16, 63, 12, 99, 5, 880]),
    diagnosis("neoplasms", "Other cancer", "C61 Cancer of the prostate", [11, 69, 7, 0, 6, 870]),
    diagnosis("neoplasms", "Other cancer", "C67 Cancer of the bladder", [11, 72, 9, 25, 5, 830]),
    diagnosis("neoplasms", "Other cancer", "C81 Lymphoma", [6, 52, 19, 44, 8, 1020]),
    diagnosis("neoplasms", "Other cancer", "C91 Leukaemia", [6, 48, 26, 43, 14, 1280]),
    diagnosis("neoplasms", "Benign growths", "D12 Benign growth of the colon", [8, 66, 10, 43, 2, 640]),
    diagnosis("neoplasms", "Benign growths", "D25 Fibroid of the womb", [8, 45, 6, 100, 4, 850]),
    diagnosis("injury", "Head and trunk", "S06 Concussion", [22, 38, 27, 45, 2, 390]),
    diagnosis("injury", "Head and trunk", "S22 Broken rib", [10, 62, 18, 40, 6, 430]),
    diagnosis("injury", "Head and trunk", "S32 Broken lower spine", [12, 72, 16, 66, 9, 560]),
    diagnosis("injury", "Arm", "S42 Broken upper arm", [14, 60, 22, 62, 5, 760]),
    diagnosis("injury", "Arm", "S52 Broken forearm", [16, 51, 24, 61, 3, 790]),
    diagnosis("injury", "Arm", "S61 Wound of the hand", [6, 38, 17, 24, 2, 520]),
    diagnosis("injury", "Leg", "S72 Broken thigh", [22, 79, 12, 69, 13, 780]),
    diagnosis("injury", "Leg", "S82 Broken lower leg", [18, 51, 19, 53, 7, 770]),
    diagnosis("injury", "Leg", "S83 Torn knee", [12, 37, 14, 42, 3, 860]),
    diagnosis("injury", "Poisoning and complications", "T36 Drug poisoning", [6, 35, 19, 60, 3, 450]),
    diagnosis("injury", "Poisoning and complications", "T81 Complication of a procedure", [14, 63, 16, 47, 10, 670]),
    diagnosis("musculoskeletal", "Joints", "M16 Worn hip", [20, 68, 10, 57, 8, 1050]),
    diagnosis("musculoskeletal", "Joints", "M17 Worn knee", [22, 68, 9, 61, 8, 1040]),
    diagnosis("musculoskeletal", "Joints", "M05 Rheumatoid arthritis", [5, 60, 14, 72, 8, 480]),
    diagnosis("musculoskeletal", "Joints", "M23 Knee damage", [8, 44, 14, 42, 2, 910]),
    diagnosis("musculoskeletal", "Back", "M48 Narrowed spinal canal", [14, 69, 11, 52, 8, 880]),
    diagnosis("musculoskeletal", "Back", "M51 Slipped disc", [16, 52, 14, 48, 6, 720]),
    diagnosis("musculoskeletal", "Back", "M54 Back pain", [20, 58, 17, 58, 6, 420]),
    diagnosis("nervous", "Mind", "F10 Alcohol dependence", [24, 46, 12, 27, 9, 370]),
    diagnosis("nervous", "Mind", "F20 Schizophrenia", [10, 42, 13, 45, 26, 340]),
    diagnosis("nervous", "Mind", "F32 Depression", [18, 46, 17, 60, 24, 330]),
    diagnosis("nervous", "Mind", "F43 Stress disorder", [8, 38, 15, 62, 12, 340]),
    diagnosis("nervous", "Mind", "F50 Eating disorder", [3, 19, 5, 92, 34, 360]),
    diagnosis("nervous", "Nerves", "G20 Parkinson's disease", [6, 74, 8, 42, 14, 430]),
    diagnosis("nervous", "Nerves", "G35 Multiple sclerosis", [5, 42, 11, 71, 7, 540]),
    diagnosis("nervous", "Nerves", "G40 Epilepsy", [14, 46, 26, 45, 5, 500]),
    diagnosis("nervous", "Nerves", "G43 Migraine", [5, 36, 14, 76, 3, 430]),
    diagnosis("nervous", "Nerves", "G45 Brief stroke", [12, 71, 11, 48, 4, 530]),
    diagnosis("nervous", "Nerves", "G47 Sleep disorder", [12, 54, 12, 24, 2, 480]),
    diagnosis("genitourinary", "Kidney and bladder", "N10 Kidney infection", [10, 47, 23, 76, 5, 430]),
    diagnosis("genitourinary", "Kidney and bladder", "N17 Acute kidney failure", [12, 73, 13, 47, 11, 560]),
    diagnosis("genitourinary", "Kidney and bladder", "N18 Chronic kidney failure", [10, 68, 14, 44, 9, 620]),
    diagnosis("genitourinary", "Kidney and bladder", "N20 Kidney stone", [16, 51, 14, 33, 3, 640]),
    diagnosis("genitourinary", "Kidney and bladder", "N39 Bladder infection", [14, 70, 19, 66, 7, 400]),
    diagnosis("genitourinary", "Reproductive organs", "N40 Enlarged prostate", [12, 70, 8, 0, 5, 700]),
    diagnosis("genitourinary", "Reproductive organs", "N81 Prolapse of the womb", [6, 63, 12, 100, 4, 730]),
    diagnosis("childbirth", "Pregnancy", "O21 Sickness in pregnancy", [4, 29, 5, 100, 3, 360]),
    diagnosis("childbirth", "Pregnancy", "O60 Early labour", [6, 30, 5, 100, 6, 480]),
    diagnosis("childbirth", "Birth", "O42 Early rupture of the membranes", [10, 31, 4, 100, 4, 610]),
    diagnosis("childbirth", "Birth", "O80 Birth", [30, 31, 4, 100, 3, 620]),
    diagnosis("childbirth", "Birth", "O82 Birth by caesarean", [20, 32, 4, 100, 5, 760]),
    diagnosis("metabolic and infectious", "Metabolism", "E10 Type 1 diabetes", [6, 29, 18, 47, 6, 430]),
    diagnosis("metabolic and infectious", "Metabolism", "E11 Type 2 diabetes", [18, 67, 12, 44, 9, 420]),
    diagnosis("metabolic and infectious", "Metabolism", "E66 Obesity", [5, 43, 11, 72, 4, 940]),
    diagnosis("metabolic and infectious", "Metabolism", "E86 Dehydration", [10, 72, 20, 59, 5, 380]),
    diagnosis("metabolic and infectious", "Infections", "A04 Bowel infection", [10, 62, 24, 56, 6, 410]),
    diagnosis("metabolic and infectious", "Infections", "A41 Sepsis", [16, 70, 16, 45, 13, 890]),
    diagnosis("metabolic and infectious", "Infections", "A46 Erysipelas", [10, 64, 16, 44, 7, 400]),
    diagnosis("metabolic and infectious", "Infections", "B02 Shingles", [5, 62, 19, 56, 6, 410]),
    diagnosis("metabolic and infectious", "Infections", "B99 Other infection", [6, 44, 27, 47, 5, 390]),
];

const fn diagnosis(
    chapter: &'static str,
    block: &'static str,
    name: &'static str,
    figures: [i64; 6],
) -> Diagnosis {
    let [weight, age, age_spread, women_percent, days, daily_cost] = figures;
    Diagnosis {
        chapter,
        block,
        name,
        weight,
        age,
        age_spread,
        women_percent,
        days,
        daily_cost,
    }
}

/// Diagnosis, block, chapter, any.
pub fn hierarchy() -> String {
    let line = |each: &Diagnosis| format!("{};{};{};*\n", each.name, each.block, each.chapter);
    DIAGNOSES.iter().map(line).collect()
}
