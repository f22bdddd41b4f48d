#!/bin/sh
# Makes the certificates that the tests of TLS use; they are committed, since not every machine that runs the tests has
# openssl. They are valid from 2020 for a hundred years and name no host but localhost; their keys protect nothing.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: > "$work/index"
cat > "$work/ca.conf" <<CONF
[ca]
default_ca = tests
[tests]
dir = $work
database = $work/index
new_certs_dir = $work
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
[any]
commonName = supplied
[authority]
basicConstraints = critical,CA:TRUE
[server]
subjectAltName = DNS:localhost,IP:127.0.0.1
[client]
extendedKeyUsage = clientAuth
CONF
new() { # key, subject, request
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out "$1"
  openssl req -new -key "$1" -subj "/CN=$2" -out "$work/$3.csr"
}
sign() { # name, extensions, end, more
  end=$3
  extensions=$2
  openssl ca -batch -notext -config "$work/ca.conf" -extensions "$extensions" -startdate 20200101000000Z -enddate "$end" \
    -keyfile "$work/authority-key.pem" -in "$work/$1.csr" -out "$1.pem" $4
}
FAR=21200101000000Z
new "$work/authority-key.pem" 'Windjammer test authority' authority
sign authority authority "$FAR" -selfsign
for name in server renewed client expired; do new "$name-key.pem" "Windjammer test $name" "$name"; done
sign server server "$FAR" '-cert authority.pem'
sign renewed server "$FAR" '-cert authority.pem'
sign client client "$FAR" '-cert authority.pem'
sign expired server 20210101000000Z '-cert authority.pem'
openssl pkcs8 -topk8 -in server-key.pem -passout pass:secret -out encrypted-key.pem
