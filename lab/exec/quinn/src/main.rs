// SPDX-License-Identifier: GPL-2.0
//! Downloads over QUIC, by quinn: a server, and clients that measure.
//!
//! A request is a stream with the number of bytes that are wanted, 8 bytes, big-endian.

mod tls;

use quinn::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use quinn::{Connection, Endpoint, RecvStream, SendStream, ServerConfig, TransportConfig, VarInt};
use std::error::Error;
use std::net::{SocketAddr, ToSocketAddrs};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const USAGE: &str = "usage: lab-quinn serve PORT cubic|bbr|reno
       lab-quinn get HOST PORT BYTES
       lab-quinn pages HOST PORT BYTES GAP_MS
serve: answers all requests, with that congestion control.
get: fetches BYTES once.
pages: fetches BYTES again and again, each time over a new connection from another port,
GAP_MS after the last one; prints the milliseconds from its first packet to its last byte.";

const ANY: &str = "0.0.0.0:0";
const CHUNK_BYTES: usize = 64 * 1024;
const REQUEST_BYTES: usize = 8;

fn parsed<T: std::str::FromStr>(name: &str, text: &str) -> Outcome<T> {
    text.parse().map_err(|_| format!("{name}: bad number '{text}'\n{USAGE}").into())
}

fn transport(cc: &str) -> Outcome<TransportConfig> {
    let mut config = TransportConfig::default();
    match cc {
        "cubic" => config.congestion_controller_factory(Arc::new(CubicConfig::default())),
        "bbr" => config.congestion_controller_factory(Arc::new(BbrConfig::default())),
        "reno" => config.congestion_controller_factory(Arc::new(NewRenoConfig::default())),
        _ => return Err(format!("no congestion control {cc}; one of cubic, bbr, reno").into()),
    };
    Ok(config)
}

async fn answer(mut reply: SendStream, mut request: RecvStream) -> Outcome<()> {
    let mut wanted = [0; REQUEST_BYTES];
    request.read_exact(&mut wanted).await?;
    let mut left = u64::from_be_bytes(wanted);
    let zeros = vec![0; CHUNK_BYTES];
    while left > 0 {
        let size = left.min(CHUNK_BYTES as u64);
        reply.write_all(&zeros[..size as usize]).await?;
        left -= size;
    }
    Ok(reply.finish()?)
}

async fn serve(port: u16, cc: &str) -> Outcome<()> {
    let mut config = ServerConfig::with_crypto(tls::server()?);
    config.transport_config(Arc::new(transport(cc)?));
    let endpoint = Endpoint::server(config, SocketAddr::from(([0, 0, 0, 0], port)))?;
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            // A client that goes away ends its own connection only.
            let Ok(connection) = incoming.await else { return };
            while let Ok((reply, request)) = connection.accept_bi().await {
                tokio::spawn(answer(reply, request));
            }
        });
    }
    Ok(())
}

/// The bytes that came for a request of so many.
async fn fetched(connection: &Connection, bytes: u64) -> Outcome<u64> {
    let (mut request, mut reply) = connection.open_bi().await?;
    request.write_all(&bytes.to_be_bytes()).await?;
    request.finish()?;
    let mut came = 0;
    while let Some(chunk) = reply.read_chunk(CHUNK_BYTES, true).await? {
        came += chunk.bytes.len() as u64;
    }
    Ok(came)
}

async fn get(server: SocketAddr, bytes: u64) -> Outcome<()> {
    let endpoint = Endpoint::client(ANY.parse()?)?;
    let connection = endpoint.connect_with(tls::client()?, server, "lab")?.await?;
    let came = fetched(&connection, bytes).await?;
    connection.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
    match came == bytes {
        true => Ok(()),
        false => Err(format!("{came} bytes came instead of {bytes}").into()),
    }
}

async fn pages(server: SocketAddr, bytes: u64, gap: Duration) -> Outcome<()> {
    loop {
        let start = Instant::now();
        let endpoint = Endpoint::client(ANY.parse()?)?;
        let connection = endpoint.connect_with(tls::client()?, server, "lab")?.await?;
        if fetched(&connection, bytes).await? != bytes {
            return Err("a page was cut short".into());
        }
        println!("{:.3}", start.elapsed().as_secs_f64() * 1000.0);
        connection.close(VarInt::from_u32(0), b"");
        tokio::time::sleep(gap).await;
    }
}

fn server_of(host: &str, port: &str) -> Outcome<SocketAddr> {
    let port = parsed("PORT", port)?;
    let mut found = (host, port).to_socket_addrs().map_err(|e| format!("{host}: {e}"))?;
    found.find(SocketAddr::is_ipv4).ok_or_else(|| format!("{host}: no IPv4 address").into())
}

async fn run(words: &[&str]) -> Outcome<()> {
    match words {
        ["serve", port, cc] => serve(parsed("PORT", port)?, cc).await,
        ["get", host, port, bytes] => get(server_of(host, port)?, parsed("BYTES", bytes)?).await,
        ["pages", host, port, bytes, gap] => {
            let gap = Duration::from_millis(parsed("GAP_MS", gap)?);
            pages(server_of(host, port)?, parsed("BYTES", bytes)?, gap).await
        }
        _ => Err(USAGE.into()),
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run(&words))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab-quinn: {error}");
            ExitCode::FAILURE
        }
    }
}
