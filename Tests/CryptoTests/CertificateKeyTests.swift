import Crypto
import Testing

struct CertificateKeyTests {
  private static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBbjCCARWgAwIBAgIUY4ELI3Dim3ikZaRIN4THt5AxgccwCgYIKoZIzj0EAwIw
    DDEKMAgGA1UEAwwBYTAgFw0yNjExMjIwMjE3MDlaGA8yMTI2MTAyOTAyMTcwOVow
    DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKpzxDLdAMF2
    4dDnVZgXT/Pjmvo0l+8lldRrXvTle3JWz6BgaILol8NPP4/dd9sKdNwvyM3T2ZOO
    QNMjQ/yWZVijUzBRMB0GA1UdDgQWBBR23hRl7futVqJIpzFmH/YYP7cY3DAfBgNV
    HSMEGDAWgBR23hRl7futVqJIpzFmH/YYP7cY3DAPBgNVHRMBAf8EBTADAQH/MAoG
    CCqGSM49BAMCA0cAMEQCIE/uxoklrXBRB8Wy2ZYUQG7fl14Zk/7Zg2yrVYYZGnio
    AiB8m2s8RT/Ofzdf+xdY1ITQ1Qt50eQh2JN//GWfFUOHqQ==
    -----END CERTIFICATE-----
    """
  private static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqQHUi7H3Elab7DDq
    1ARrPiT3ieMkNJJElDl2+Jkj6EqhRANCAASqc8Qy3QDBduHQ51WYF0/z45r6NJfv
    JZXUa1705XtyVs+gYGiC6JfDTz+P3XfbCnTcL8jN09mTjkDTI0P8lmVY
    -----END PRIVATE KEY-----
    """
  private static let otherKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgY8ro5xBURylAJp2M
    /eFFN+KXdPVSRYyCEaDVV2siDL+hRANCAAQaZW8dVYR0urXg/kH9ckKMzzZI1mep
    NKALBwGtnEDFkWbPgHVn+tmwnQ4FdOOwUyXxLuu4EQnLPiBpNZa3+K+y
    -----END PRIVATE KEY-----
    """
  private static let encryptedKey = """
    -----BEGIN EC PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-128-CBC,2F2F713F0C52B53CC4B6BE63976F0FD3

    CTFaiE8KrQ7CIrJH/fiSQWY2LD3unf7kpsbQSb1HYPkH3U3hi88V7tafeGmYw+L9
    1wGfQG3k4i0h/B2w6Gn5a50Emb7eu3QSODoC1ApEtwLwb/pBlxi+fBWEq0B585xU
    V5mxq0d7WZNoaTm46nn/gBP+xeSVEsAoTv1Dph3ic7A=
    -----END EC PRIVATE KEY-----
    """

  private func isKey(_ key: String, of certificate: String = certificate) -> Bool? {
    Certificate.isKey(Array(key.utf8), ofFirstIn: Array(certificate.utf8))
  }

  @Test func `a private key belongs to its certificate only`() {
    #expect(isKey(Self.key) == true)
    #expect(isKey(Self.otherKey) == false)
    #expect(
      isKey(Self.key + "\n" + Self.certificate, of: Self.key + "\n" + Self.certificate) == true)
  }

  @Test func `a key or certificate that can't be parsed belongs to nothing`() {
    #expect(isKey("") == nil)
    #expect(isKey(Self.certificate) == nil)
    #expect(isKey(Self.key, of: Self.key) == nil)
  }

  @Test func `an encrypted key isn't asked a password for`() {
    #expect(isKey(Self.encryptedKey) == nil)
  }
}
