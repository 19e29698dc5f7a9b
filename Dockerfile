# syntax=docker/dockerfile:1
# One binary on a slim system, run by a user without rights.
#   docker build --tag vizard .
#
# On the embedded store, with an admin key and master keys that are files of the
# user 10001 with mode 0400 (docker-compose.yml says how to make them), behind a
# proxy that ends TLS:
#   docker run --publish 127.0.0.1:8080:8080 --memory 4g \
#     --volume vizard-data:/data --volume vizard-kept:/kept \
#     --volume "$PWD/secrets/master-keys:/run/secrets/master-keys:ro" \
#     --volume "$PWD/secrets/admin-key:/run/secrets/admin-key:ro" \
#     --env VIZARD_ADMIN_KEY_FILE=/run/secrets/admin-key --env VIZARD_INSECURE_LISTEN=true vizard

FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
# The caches live outside the image: a change of one line does not build every crate anew.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    cargo build --profile dist --locked --bin vizard \
    && cp target/dist/vizard /vizard

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Vizard" \
      org.opencontainers.image.description="Publishes tables about people while keeping each person's own privacy terms" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin vizard \
    && install --directory --owner vizard --group vizard --mode 0700 /data /kept
COPY --from=build /vizard /usr/local/bin/vizard

USER vizard
WORKDIR /data
VOLUME ["/data", "/kept"]
# The data folder: where the embedded store and the first key are kept, and where
# an upload waits on disk until all of it is valid.
ENV VIZARD_DATA=/data \
    TMPDIR=/data \
    VIZARD_LISTEN=0.0.0.0:8080
# Datasets are sealed. What was erased, and the head of the audit log, are on a
# volume of their own: put it on another disk than the store.
ENV VIZARD_MASTER_KEY_FILE=/run/secrets/master-keys \
    VIZARD_TOMBSTONES=/kept/tombstones \
    VIZARD_AUDIT_ANCHOR=/kept/audit-anchor
# Give the container (--memory) at least 1 GiB more than jobs may use. The reserve
# should be as large as the largest dataset.
ENV VIZARD_MEMORY_BYTES_MAX=3221225472 \
    VIZARD_ERASURE_RESERVE_BYTES=268435456
EXPOSE 8080
# The server finishes or releases its jobs before it ends. Give it longer than
# VIZARD_DRAIN_TIMEOUT_S (docker stop --time).
STOPSIGNAL SIGTERM
# Asks where the environment says: VIZARD_METRICS_LISTEN if it is set, else the
# API, over TLS if VIZARD_TLS_CERT is set.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["vizard", "healthcheck"]
ENTRYPOINT ["vizard"]
CMD ["serve"]
