use super::fixture::{empty, full, hostile, many_jobs, one_job};
use super::*;
use crate::export;
use crate::export::text::Style;
use serde_json::{Value, json};

/// All made-up answers.
fn all() -> [FleetView; 5] {
    [full(), empty(), one_job(), many_jobs(), hostile()]
}

fn text(view: &FleetView, limit: usize) -> String {
    String::from_utf8(export::text::fleet(view, limit, Style { width: Some(80), colour: false })).unwrap()
}

#[test]
fn every_row_has_as_many_cells_as_headings() {
    for view in all() {
        for section in sections(&view, 0) {
            assert!(section.names <= section.head.len(), "{}", section.title);
            for row in &section.rows {
                assert_eq!(row.len(), section.head.len(), "{}: {row:?}", section.title);
            }
        }
    }
    assert_eq!(sections(&full(), 0).len(), 12, "every table is there");
    assert!(sections(&empty(), 0).is_empty());
}

#[test]
fn rows_beyond_the_limit_are_counted() {
    let jobs = &sections(&many_jobs(), 20)[0];
    assert_eq!((jobs.title, jobs.rows.len(), jobs.left_out), ("Jobs", 20, 184));
    assert!(text(&many_jobs(), 20).contains("184"), "and the text says so");
}

#[test]
fn a_job_has_its_rows_of_every_table_without_the_columns_that_name_it() {
    let view = full();
    let told = |at: usize| {
        let sections = job_sections(&view, &view.jobs[at]);
        assert!(sections.iter().all(|section| !section.head.contains(&"job") && !section.head.contains(&"platform")));
        sections.iter().map(|section| (section.title, section.rows.len())).collect::<Vec<_>>()
    };
    let whole = [
        ("Unusual hosts", 3),
        ("Suspects", 2),
        ("Alarms", 1),
        ("Versions", 1),
        ("Contention", 1),
        ("Influence of neighbours", 1),
        ("Usual values", 2),
        ("Seasons", 1),
    ];
    assert_eq!(told(0), whole);
    let alarms = |view: &FleetView| job_sections(view, &view.jobs[0]).into_iter().find(|it| it.id == SectionId::Alarms);
    assert_eq!(alarms(&view).unwrap().about, "on all platforms; of the watches");
    let mut one = full();
    one.extent.platforms = 1;
    assert_eq!(alarms(&one).unwrap().about, "of the watches");
    assert_eq!(told(3), [], "nothing is known of it");
    let summary = "24 hosts, 40,320 windows, 528 h of CPU time (47.5%), 2 unusual hosts, 2 suspects";
    assert_eq!(job_summary(&view.jobs[0]), summary);
    assert!(job_summary(&view.jobs[2]).ends_with("no unusual hosts, 1 suspect"), "{}", job_summary(&view.jobs[2]));
}

#[test]
fn what_could_not_be_compared_is_unknown_and_not_none() {
    let view = full();
    let mut job = view.jobs[1].clone();
    let why = |job: &FleetJob| (job.why_no_comparison(), job.why_no_suspects());
    assert_eq!(why(&job), (None, None));
    assert_eq!(
        job_summary(&view.jobs[3]).split_once("%), ").unwrap().1,
        "unusual hosts unknown (neither operations nor CPI were measured), \
         suspects unknown (neither operations nor CPI were measured)"
    );
    for spec in [&mut job.cpi_spec, &mut job.cost_spec] {
        spec.as_mut().unwrap().hosts = 1;
    }
    (job.hosts, job.pairs_tested) = (1, 0);
    assert_eq!(why(&job), (Some("fewer than 5 hosts"), Some("a single host")));
    assert_eq!((job.unusual_hosts(), job.neighbours()), (None, None));
    job.hosts = 9;
    let few = "fewer than 100 windows, or 5 hosts, at a quarter of a CPU or more";
    assert_eq!(why(&job), (Some(few), Some("no neighbour was measured with it on two hosts")));
    (job.cpi_spec, job.cost_spec) = (None, None);
    assert_eq!(why(&job).0, Some("it never used a quarter of a CPU"));
    let nothing = |job: FleetJob| {
        let tables = FleetTables::of(FleetView { jobs: vec![job], ..full() });
        [SectionId::Hosts, SectionId::Suspects, SectionId::Contention].map(|id| tables.nothing(id))
    };
    let unknown = nothing(view.jobs[3].clone());
    assert!(unknown.iter().all(|text| text.starts_with("unknown: ")), "{unknown:?}");
    let none = nothing(view.jobs[1].clone());
    assert!(none.iter().all(|text| text.starts_with("no ")), "{none:?}");
    let cells = |at: usize| sections(&view, 0)[0].rows[at].clone();
    assert_eq!((cells(1)[3].as_str(), cells(3)[3].as_str(), cells(3)[9].as_str()), ("0", "-", "-"));
}

#[test]
fn no_line_of_the_text_is_wider_than_the_terminal_and_what_it_leaves_out_is_named() {
    for view in all() {
        for width in [80, 100, 120, 200] {
            let style = Style { width: Some(width), colour: false };
            let text = String::from_utf8(export::text::fleet(&view, 0, style)).unwrap();
            let wide = text.lines().find(|line| crate::view::fit::width(line) > width);
            assert!(wide.is_none(), "{width}: {wide:?}");
        }
    }
    assert!(text(&full(), 20).contains("too narrow for: "), "{}", text(&full(), 20));
    let whole = String::from_utf8(export::text::fleet(&full(), 20, Style { width: None, colour: false })).unwrap();
    assert!(!whole.contains("too narrow for") && whole.contains("GEV: location"), "{whole}");
}

#[test]
fn a_session_has_every_table_and_says_what_an_empty_one_means() {
    let tables = FleetTables::of(empty());
    for id in [SectionId::Jobs, SectionId::Hosts, SectionId::Alarms] {
        assert!(tables.section(id).is_some_and(|section| section.rows.is_empty()), "{}", id.nothing());
    }
    assert_eq!((headline(&tables.view).as_str(), covered(&tables.view).as_str()), ("no windows", "no windows"));
    assert!(headline(&full()).ends_with(&covered(&full())));
}

#[test]
fn one_platform_is_named_once_and_not_in_every_row() {
    let view = one_job();
    assert!(sections(&view, 0).iter().all(|section| !section.head.contains(&"platform")));
    assert!(headline(&view).contains(fixture::PLATFORMS[1]), "{}", headline(&view));
    assert!(headline(&full()).contains("2 platforms"), "{}", headline(&full()));
}

#[test]
fn the_json_keeps_to_its_schema_which_refuses_text_for_numbers() {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    let schema: Value = serde_json::from_str(export::json::FLEET_SCHEMA).unwrap();
    compiler.add_resource("fleet.json", schema).unwrap();
    let id = compiler.compile("fleet.json", &mut schemas).unwrap();
    for view in all() {
        let value: Value = serde_json::from_slice(&export::json::fleet(&view).unwrap()).unwrap();
        if let Err(error) = schemas.validate(&value, id) {
            panic!("{error:#}");
        }
        for (place, wrong) in [("/extent/hosts", json!("48")), ("/jobs", json!({}))] {
            let mut value = value.clone();
            *value.pointer_mut(place).unwrap() = wrong;
            assert!(schemas.validate(&value, id).is_err(), "{place}");
        }
    }
}

#[test]
fn names_do_not_act_on_a_terminal_or_a_page() {
    let view = hostile();
    let text = text(&view, 0);
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    assert!(!text.contains('\u{202e}'), "{text:?}");
    let page = String::from_utf8(export::html::fleet(&view)).unwrap();
    assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "{page:?}");
    assert!(!page.contains("<script") && !page.contains("<b>") && page.contains("&lt;script&gt;"), "{page}");
}

#[test]
fn the_text_reads_well() {
    insta::assert_snapshot!("full", text(&full(), 20));
    insta::assert_snapshot!("empty", text(&empty(), 20));
}
