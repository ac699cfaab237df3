import DatabasePostgreSQL
import Testing

struct AddressTests {
  @Test func `an address has a user, a host, a port, and a database`() throws {
    let address = try PostgreSQLAddress("postgresql://counter%20sign@db.example.com:6432/main")
    #expect(address.user == "counter sign")
    #expect(address.servers.map(\.host) == ["db.example.com"])
    #expect(address.servers.map(\.port) == [6432])
    #expect(address.parameters == [:])
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
    #expect(address.servers.map(\.host) == [host])
    #expect(address.tls == tls)
    #expect(address.servers.map(\.port) == [text.contains("5433") ? 5433 : 5432])
  }

  @Test func `of several servers, the one that accepts writes is used`() throws {
    let address = try PostgreSQLAddress("postgresql://me@a:5433,[::1],127.0.0.1:5434/x")
    #expect(address.servers.map(\.host) == ["a", "::1", "127.0.0.1"])
    #expect(address.servers.map(\.port) == [5433, 5432, 5434])
    #expect(address.parameters == ["target_session_attrs": "read-write"])
    #expect(address.tls == .verifyFull, "one is another machine")
    #expect(address.description == "postgresql://me@a:5433,[::1]:5432,127.0.0.1:5434/x")
    let local = try PostgreSQLAddress("postgresql://[::1],127.0.0.1/x?target_session_attrs=any")
    #expect(local.tls == .disable)
    #expect(local.parameters == ["target_session_attrs": "any"])
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
      ("postgresql://a,/x", .host), ("postgresql://,b/x", .host),
      ("postgresql://a,b,c,d,e,f,g,h,i/x", .host),
      ("postgresql://[::1/x", .host), ("postgresql://[x]/x", .host),
      ("postgresql://h%20h/x", .host), ("postgresql://a:1,b:0/x", .port),
      ("postgresql://a%2Cb/x", .host), ("postgresql://a,b/x?host=/tmp", .value("host")),
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
