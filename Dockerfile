# sdrs in Debian 12: docker build -t sdrs . && docker run --rm -v "$PWD:/data" sdrs simulate scene.yaml -o out
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends make git ca-certificates dpkg-dev
COPY . /source
WORKDIR /source
RUN scripts/deps.sh build && make deb

FROM debian:12
COPY --from=build /source/out/sdrs_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/sdrs_*.deb libassimp5 libmicrohttpd12 gnuplot-nox \
    && rm -rf /tmp/sdrs_*.deb /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["sdrs"]
