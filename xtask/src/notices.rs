//! What a release file carries of others: the parts as a list that programs read (CycloneDX), and their licences as text.
//!
//! The crates come from cargo, the C libraries from a table that `scripts/dist.sh` makes of the packages that it links.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, Package};
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Which release.
#[derive(Debug, Args)]
pub(crate) struct Release {
    /// Rust's name of the system that it is for
    #[arg(long)]
    target: String,
    /// C libraries that are linked in, one a line: name, version, licence, where its source is, files with its licence; tabs between, colons between files
    #[arg(long)]
    libraries: PathBuf,
    /// Time of the release, in seconds since 1970
    #[arg(long)]
    time: i64,
    /// Where to write to
    directory: PathBuf,
}

/// One thing that is part of the program.
struct Part {
    name: String,
    version: String,
    licence: String,
    /// Package URL: <https://github.com/package-url/purl-spec>
    url: String,
    source: String,
    /// The licence files' contents.
    texts: Vec<String>,
}

/// Writes `sbom.cdx.json` and `THIRD-PARTY.txt`.
pub(crate) fn write(root: &Path, release: &Release) -> Result<()> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .features(CargoOpt::SomeFeatures(Vec::new()))
        .other_options(["--locked", "--filter-platform", &release.target].map(str::to_owned))
        .exec()
        .context("cargo metadata failed")?;
    let (program, crates) = crates(&metadata)?;
    let mut parts = crates.into_iter().map(|it| of_crate(root, it)).collect::<Result<Vec<_>>>()?;
    parts.extend(carried(root)?);
    parts.extend(libraries(&release.libraries)?);
    let sbom = sbom(program, &parts, release)?;
    put(&release.directory.join("sbom.cdx.json"), &format!("{sbom:#}\n"))?;
    put(&release.directory.join("THIRD-PARTY.txt"), &texts(program, &parts))
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The program, and all crates that are built into it: not those that only tests or build scripts use.
fn crates(metadata: &Metadata) -> Result<(&Package, Vec<&Package>)> {
    let program = metadata
        .packages
        .iter()
        .find(|package| package.name == "whyfaster")
        .context("no package whyfaster")?;
    let graph = metadata.resolve.as_ref().context("cargo metadata resolved nothing")?;
    let nodes: BTreeMap<_, _> = graph.nodes.iter().map(|node| (&node.id, node)).collect();
    let mut reached = BTreeSet::new();
    let mut waiting = vec![&program.id];
    while let Some(id) = waiting.pop() {
        if !reached.insert(id) {
            continue;
        }
        let node = nodes.get(id).with_context(|| format!("{id} is not resolved"))?;
        let linked = |kinds: &[cargo_metadata::DepKindInfo]| {
            kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
        };
        waiting.extend(
            node.deps
                .iter()
                .filter(|dependency| linked(&dependency.dep_kinds))
                .map(|dependency| &dependency.pkg),
        );
    }
    let mut others: Vec<_> = metadata
        .packages
        .iter()
        .filter(|package| reached.contains(&package.id) && package.source.is_some())
        .collect();
    others.sort_by_key(|package| (&package.name, &package.version));
    Ok((program, others))
}

/// What lies in this repository as others published it: the curves of the page, and the font of pictures.
fn carried(root: &Path) -> Result<Vec<Part>> {
    let assets = root.join("crates/render/assets");
    let part = |[name, version, licence, url, source]: [&str; 5], directory: &str| -> Result<Part> {
        let texts = licences(&assets.join(directory))?;
        ensure!(!texts.is_empty(), "{name} comes without its licence");
        let [name, version, licence, url, source] = [name, version, licence, url, source].map(str::to_owned);
        Ok(Part { name, version, licence, url, source, texts })
    };
    Ok(vec![
        part(
            ["uPlot", "1.6.32", "MIT", "pkg:npm/uplot@1.6.32", "https://github.com/leeoniya/uPlot"],
            "uplot",
        )?,
        part(
            [
                "DejaVu fonts",
                "2.37",
                "Bitstream-Vera",
                "pkg:generic/dejavu-fonts@2.37",
                "https://dejavu-fonts.github.io/",
            ],
            "dejavu",
        )?,
    ])
}

fn of_crate(root: &Path, package: &Package) -> Result<Part> {
    let directory = package.manifest_path.parent().context("a manifest lies in a directory")?;
    // libbpf-sys carries libbpf.
    let mut texts = [directory.as_std_path().to_owned(), directory.join("libbpf").into()]
        .iter()
        .map(|at| licences(at))
        .collect::<Result<Vec<_>>>()?
        .concat();
    // Who offers it under this licence and leaves the text out means the one that all have.
    if texts.is_empty() && package.license.as_ref().is_some_and(|licence| licence.contains("Apache-2.0")) {
        texts.push(text(&root.join("LICENSE-APACHE"))?);
    }
    ensure!(!texts.is_empty(), "{} {} comes without its licence", package.name, package.version);
    Ok(Part {
        name: package.name.clone(),
        version: package.version.to_string(),
        // A slash is an old way to write "or".
        licence: package
            .license
            .as_ref()
            .with_context(|| format!("{} names no licence", package.name))?
            .replace('/', " OR "),
        url: format!("pkg:cargo/{}@{}", package.name, package.version),
        source: format!("https://crates.io/crates/{}/{}", package.name, package.version),
        texts,
    })
}

/// The contents of the licence files in a directory, by name.
fn licences(directory: &Path) -> Result<Vec<String>> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(Vec::new()) };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file()
            && ["license", "licence", "unlicense", "copying", "copyright", "notice"]
                .iter()
                .any(|word| name.starts_with(word))
        {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| text(path)).collect()
}

fn text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).replace('\r', "").trim_end().to_owned())
}

fn libraries(table: &Path) -> Result<Vec<Part>> {
    let lines = text(table)?;
    lines
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [name, version, licence, source, files] = fields[..] else {
                anyhow::bail!("{}: not five fields: {line}", table.display());
            };
            Ok(Part {
                name: name.to_owned(),
                version: version.to_owned(),
                licence: licence.to_owned(),
                url: format!("pkg:generic/{name}@{version}"),
                source: source.to_owned(),
                texts: files.split(':').map(|file| text(Path::new(file))).collect::<Result<_>>()?,
            })
        })
        .collect()
}

/// The format: <https://cyclonedx.org/docs/1.5/json/>
fn sbom(program: &Package, parts: &[Part], release: &Release) -> Result<Value> {
    let own = format!("pkg:cargo/{}@{}", program.name, program.version);
    let components: Vec<Value> = parts
        .iter()
        .map(|part| {
            json!({
                "type": "library",
                "bom-ref": part.url,
                "name": part.name,
                "version": part.version,
                "purl": part.url,
                "licenses": [{"expression": part.licence}],
                "externalReferences": [{"type": "distribution", "url": part.source}],
            })
        })
        .collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": Timestamp::from_second(release.time).context("--time is not a time")?.to_string(),
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": program.name,
                "version": program.version.to_string(),
                "purl": own,
                "licenses": [{"expression": program.license}],
                "properties": [{"name": "target", "value": release.target}],
            },
        },
        "components": components,
        "dependencies": [{"ref": own, "dependsOn": parts.iter().map(|part| &part.url).collect::<Vec<_>>()}],
    }))
}

/// Each licence's text once, below the parts that come with it.
fn texts(program: &Package, parts: &[Part]) -> String {
    let mut text = String::from(
        "whyfaster is one static file. These are part of it, each under its own licence; the texts are below.\n\n\
         libelf (LGPL-3.0-or-later or GPL-2.0-or-later) and the C library (LGPL-2.1-or-later) are linked in. You may link whyfaster\n\
         anew with changed versions of them: whyfaster's source is at the address below, theirs at the addresses in this list.\n\n",
    );
    let _ = writeln!(text, "whyfaster: {}\n", program.repository.as_deref().unwrap_or_default());
    let mut by_text: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for part in parts {
        let _ = writeln!(text, "{} {}: {}\n    {}", part.name, part.version, part.licence, part.source);
        for licence in &part.texts {
            by_text.entry(licence).or_default().push(format!("{} {}", part.name, part.version));
        }
    }
    let mut shares: Vec<_> = by_text.into_iter().map(|(licence, of)| (of, licence)).collect();
    shares.sort();
    for (of, licence) in shares {
        let _ = writeln!(text, "\n{}\n{}\n\n{licence}", "=".repeat(80), of.join(", "));
    }
    text
}
