import DatabasePostgreSQL
import Testing

struct AddressTests {
  @Test func `an address has a user, a host, a port, and a database`() throws {
    let address = try PostgreSQLAddress("postgresql://counter%20sign@db.example.com:6432/main")
    #expect(address.user == "counter sign")
    #expect(address.host == "db.example.com")
    #expect(address.port == 6432)
    #expect(address.database == "main")
    #expect(address.tls == .verifyFull)
    #expect(address.description == "postgresql://counter sign@db.example.com:6432/main")
  }

  @Test(
    arguments: [
      ("postgresql:///x", "localhost", PostgreSQLAddress.TLS.disable),
      ("postgres://localhost/x", "localhost", .disable),
      ("postgresql://127.0.0.1/x", "127.0.0.1", .disable),
      ("postgresql://[::1]:5433/x", "::1", .disable),
      ("postgresql://[2001:db8::1]/x", "2001:db8::1", .verifyFull),
      ("postgresql://127.evil.example/x", "127.evil.example", .verifyFull),
      ("postgresql://10.0.0.1/x", "10.0.0.1", .verifyFull),
      ("postgresql://localhost/x?sslmode=verify-full", "localhost", .verifyFull),
      ("postgresql://10.0.0.1/x?sslmode=disable", "10.0.0.1", .disable),
      ("postgresql://10.0.0.1/x?sslmode=verify-ca", "10.0.0.1", .verifyCA),
      ("postgresql:///x?host=/run/postgresql", "/run/postgresql", .disable),
      ("postgresql://%2Frun%2Fpostgresql/x", "/run/postgresql", .disable),
    ] as [(String, String, PostgreSQLAddress.TLS)])
  func `another machine is reached with TLS and its name is verified, unless told otherwise`(
    text: String, host: String, tls: PostgreSQLAddress.TLS
  ) throws {
    let address = try PostgreSQLAddress(text)
    #expect(address.host == host)
    #expect(address.tls == tls)
    #expect(address.port == (text.contains("5433") ? 5433 : 5432))
  }

  @Test func `parameters of libpq are kept`() throws {
    let address = try PostgreSQLAddress(
      "postgresql://h/x?sslrootcert=%2Fetc%2Fca.pem&passfile=/a&target_session_attrs=read-write")
    #expect(
      address.parameters == [
        "sslrootcert": "/etc/ca.pem", "passfile": "/a", "target_session_attrs": "read-write",
      ])
  }

  @Test(
    arguments: [
      ("mysql://h/x", .scheme), ("", .scheme), ("POSTGRESQL://h/x", .scheme),
      ("postgresql://u:secret@h/x", .password), ("postgresql://u:@h/x", .password),
      ("postgresql://h/x?password=secret", .password),
      ("postgresql://h", .database), ("postgresql://h/", .database),
      ("postgresql://h/a/b", .database),
      ("postgresql://h/a%2Fb", .database),
      ("postgresql://a,b/x", .host), ("postgresql://[::1/x", .host), ("postgresql://[x]/x", .host),
      ("postgresql://h%20h/x", .host), ("postgresql://a:1,b:2/x", .port),
      ("postgresql://h:0/x", .port), ("postgresql://h:65536/x", .port),
      ("postgresql://h:/x", .port),
      ("postgresql://h:+5/x", .port), ("postgresql://h:5x/x", .port),
      ("postgresql://@h/x", .encoding), ("postgresql://h/%zz", .encoding),
      ("postgresql://h/%", .encoding), ("postgresql://h/%00", .encoding),
      ("postgresql://h/%ff", .encoding), ("postgresql://h/a b", .encoding),
      ("postgresql://h/a#b", .encoding), ("postgresql://h/x?a%0Ab=1", .encoding),
      ("postgresql://h/x?options=-csearch_path", .parameter("options")),
      ("postgresql://h/x?", .parameter("")), ("postgresql://h/x?service=y", .parameter("service")),
      ("postgresql://h/x?sslmode=require&sslmode=disable", .repeated("sslmode")),
      ("postgresql://h/x?sslmode=prefer", .value("sslmode")),
      ("postgresql://h/x?sslmode", .value("sslmode")),
      ("postgresql://h/x?host=/tmp", .value("host")), ("postgresql:///x?host=h", .value("host")),
      ("postgresql://h/x?target_session_attrs=standby", .value("target_session_attrs")),
    ] as [(String, PostgreSQLAddress.Malformed)])
  func `a malformed address is refused with a reason`(
    text: String, reason: PostgreSQLAddress.Malformed
  ) {
    #expect(throws: reason) { try PostgreSQLAddress(text) }
    #expect(!"\(reason)".contains("secret"))
  }
}
