//! Manual pages, made from the same definition as the parser.
//! It returns bytes and never writes them.

use super::Cli;
use crate::cli::guide;
use crate::error::{Context, Error, ErrorKind, Result};
use clap::CommandFactory;

/// The manual page (roff) of one command (`record`, `baseline-build`), or of ironlaw itself. Errors: `Usage` for an unknown command.
pub fn man_page(command: Option<&str>) -> Result<Vec<u8>> {
    let mut cli = Cli::command();
    cli.build();
    let described = match command {
        None => cli,
        Some(name) => find(&cli, name)?,
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(described).render(&mut page).context(|| "cannot make the manual page")?;
    page.extend(guide::roff(command.unwrap_or_default()).into_bytes());
    Ok(page)
}

/// What `ironlaw COMMAND --help` prints; `None` of an unknown command.
#[must_use]
pub fn help_text(command: &str) -> Option<String> {
    let mut cli = Cli::command();
    cli.build();
    cli.find_subcommand_mut(command).map(|command| command.render_long_help().to_string())
}

fn find(cli: &clap::Command, name: &str) -> Result<clap::Command> {
    let found = nested(cli, name).ok_or_else(|| {
        let known: Vec<_> = cli.get_subcommands().filter(|c| !c.is_hide_set()).map(clap::Command::get_name).collect();
        Error::new(ErrorKind::Usage, format!("unknown command '{name}'"))
            .hint(format!("Choose one of: {}.", known.join(", ")))
    })?;
    Ok(found.clone())
}

/// A command, or with a dash between a command's own: `baseline-build`.
fn nested<'a>(cli: &'a clap::Command, name: &str) -> Option<&'a clap::Command> {
    cli.find_subcommand(name).or_else(|| {
        let (outer, inner) = name.split_once('-')?;
        cli.find_subcommand(outer)?.find_subcommand(inner)
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
    use super::*;

    #[test]
    fn the_manual_names_the_page_and_its_flags() {
        let page = String::from_utf8(man_page(Some("record")).unwrap()).unwrap();
        assert!(page.contains("ironlaw\\-record") && page.contains("\\-\\-off\\-cpu"), "{page}");
        let page = String::from_utf8(man_page(None).unwrap()).unwrap();
        assert!(page.contains("doctor") && !page.contains("workload"), "{page}");
        let page = String::from_utf8(man_page(Some("baseline-build")).unwrap()).unwrap();
        assert!(page.contains("ironlaw\\-baseline\\-build") && page.contains("\\-\\-force"), "{page}");
        assert_eq!(man_page(Some("nonesuch")).unwrap_err().kind(), ErrorKind::Usage);
    }
}
