//! TLS to a server, with as much proof as `sslmode` asks for.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::named::{Mode, Named, Roots};

/// What makes connections to this server safe.
pub(super) fn connector(named: &Named) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::of(named, &provider)?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// Looks at the certificate of a server. In every mode the server has to prove that it holds the key of the certificate that it shows.
#[derive(Debug)]
struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    /// Nothing: any certificate will do.
    trusted: Option<Trusted>,
}

#[derive(Debug)]
struct Trusted {
    certificates: Vec<CertificateDer<'static>>,
    chains: Arc<WebPkiServerVerifier>,
    /// The certificate has to be for the host that was named.
    for_host: bool,
}

impl Verifier {
    fn of(named: &Named, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let certificates = match (&named.roots, named.mode) {
            // Looking for them takes time.
            (_, Mode::Disable | Mode::Prefer) => None,
            (Roots::File(file), _) => Some(read(file)?),
            (Roots::Usual(Some(file)), _) if file.exists() => Some(read(file)?),
            (Roots::Usual(_), Mode::Require) => None,
            (Roots::Usual(_) | Roots::System, _) => Some(rustls_native_certs::load_native_certs().certs),
        };
        let trusted = certificates.map(|certificates| {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(certificates.iter().cloned());
            let chains = WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone()).build();
            let chains =
                chains.map_err(|_| "there is no certificate to trust: name a file with sslrootcert=FILE")?;
            Ok::<_, String>(Trusted { certificates, chains, for_host: named.mode == Mode::VerifyFull })
        });
        let algorithms = provider.signature_verification_algorithms;
        Ok(Self { algorithms, trusted: trusted.transpose()? })
    }
}

fn read(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let all = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match all {
        Ok(all) if all.is_empty() => Err(format!("there is no certificate in '{}'", file.display())),
        all => {
            all.map_err(|error| format!("the certificates in '{}' cannot be read: {error}", file.display()))
        }
    }
}

impl Trusted {
    fn check(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<(), Error> {
        // Teams sign a certificate with itself and trust it alone: that it is none of an authority is no fault then.
        if self.certificates.contains(shown) {
            return if self.for_host {
                verify_server_name(&ParsedCertificate::try_from(shown)?, host)
            } else {
                Ok(())
            };
        }
        match self.chains.verify_server_cert(shown, between, host, ocsp, now) {
            // The name comes last: all else holds.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.for_host => Ok(()),
            checked => checked.map(|_| ()),
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(trusted) = &self.trusted {
            trusted.check(shown, between, host, ocsp, now)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, shown, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, shown, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
