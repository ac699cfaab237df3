import Foundation
import HTTPClient
import HTTPServer
import Localization
import Synchronization
import Network
import Testing

@testable import countersign
@testable import Crypto

struct NetworkConfigurationTests {
  private func read(_ words: [String], environment: [String: String] = [:]) throws
    -> (limits: Limits, configuration: ServeConfiguration)
  {
    let arguments = try Arguments(
      words, options: ServeConfiguration.options, environment: environment)
    let configuration = try ServeConfiguration(arguments)
    var limits = Limits()
    configuration.network.apply(to: &limits)
    return (limits, configuration)
  }

  private func problems(_ words: String...) -> [String] {
    do {
      _ = try read(words)
      return []
    } catch {
      return (error as? ConfigurationError)?.problems.map(OperatorText.string) ?? ["\(error)"]
    }
  }

  @Test func `limits come from flags, otherwise from the environment`() throws {
    let flags = try read([
      "--max-connections", "500", "--max-connections-per-network", "7", "--max-header-bytes",
      "8192",
    ]).limits
    #expect(flags.connections == 500 && flags.connectionsPerNetwork == 7 && flags.headers == 8192)
    let environment = [
      "COUNTERSIGN_MAX_CONNECTIONS": "600", "COUNTERSIGN_MAX_CONNECTIONS_PER_NETWORK": "8",
      "COUNTERSIGN_MAX_HEADER_BYTES": "32768",
    ]
    let found = try read(["--max-connections", "5"], environment: environment).limits
    #expect(found.connections == 5 && found.connectionsPerNetwork == 8 && found.headers == 32768)
    let neither = try read([]).limits
    #expect(neither.connections == 12_000 && neither.connectionsPerNetwork == 1024)
  }

  @Test(arguments: ["0", "-1", "many", "", "1e3", "99999999999999999999"])
  func `an invalid limit is rejected`(text: String) {
    for name in ["max-connections", "max-connections-per-network", "max-header-bytes"] {
      #expect(problems("--\(name)=\(text)").count == 1)
    }
  }

  @Test func `trusted proxies are a list of addresses and networks`() throws {
    let proxies = try read([
      "--trusted-proxy", "127.0.0.1, 10.0.0.0/8", "--trusted-proxy=fd00::/8",
    ]).configuration.network.trustedProxies
    #expect(proxies.map(\.description) == ["127.0.0.1/32", "10.0.0.0/8", "fd00::/8"])
  }

  @Test(arguments: ["proxy.example", "10.0.0.0/33", "10.0.0.1:80", "*", ""])
  func `an invalid proxy is rejected`(text: String) {
    #expect(problems("--trusted-proxy=\(text)").count == 1)
  }

  @Test func `origins require the emulator profile and have no path`() {
    #expect(problems("--emulator-origin", "https://shop.example").count == 1)
    let emulator = ["--profile", "emulator", "--emulator-origin"]
    #expect((try? read(emulator + ["https://shop.example,null"])) != nil)
    #expect((try? read(emulator + ["https://shop.example/path"])) == nil)
    #expect((try? read(emulator + ["*"])) == nil)
  }

  @Test func `more connections than the system allows cause a warning`() throws {
    let warning = OperatorText.string(
      try #require(NetworkConfiguration.warning(wanted: 12_000, allowed: 192)))
    #expect(warning.contains("ulimit -n") && warning.contains("192") && warning.contains("12000"))
    #expect(NetworkConfiguration.warning(wanted: 12_000, allowed: 12_000) == nil)
  }
}

struct TLSFilesTests {
  private static let cases: [(certificate: String?, key: String, reason: String?)] = [
    (DoctorTests.certificate, DoctorTests.key, nil),
    ("nonsense", DoctorTests.key, "There's no certificate in F/c.pem."),
    ("", "", "There's no certificate in F/c.pem."),
    (DoctorTests.certificate, "nonsense", "There's no private key in F/k.pem, or it's encrypted."),
    (nil, DoctorTests.key, "--tls-certificate F/c.pem can't be read: No such file or directory"),
  ]

  @Test(arguments: cases)
  func `the reason that they can't be used names the file`(
    certificate: String?, key: String, reason: String?
  ) async throws {
    try await withFolder { folder in
      let files = TLSFiles(certificate: "\(folder)/c.pem", key: "\(folder)/k.pem")
      try certificate?.write(toFile: "\(folder)/c.pem", atomically: false, encoding: .utf8)
      try key.write(toFile: "\(folder)/k.pem", atomically: false, encoding: .utf8)
      let text = "\(files.reason(for: .cannotStart(reason: "It can't start.")))"
      #expect(
        text.replacingOccurrences(of: folder, with: "F") == reason ?? "It can't start.")
      #expect(files.read().certificates.isEmpty == (certificate != DoctorTests.certificate))
    }
  }
}

struct AuthorityFileTests {
  private static let cases: [(text: String?, problem: String?)] = [
    (DoctorTests.certificate, nil),
    (DoctorTests.key, "The --outbound-ca file F/ca.pem has no certificate in PEM format."),
    ("", "The --outbound-ca file F/ca.pem has no certificate in PEM format."),
    (nil, "--outbound-ca F/ca.pem can't be read: No such file or directory"),
  ]

  @Test(arguments: cases)
  func `a file of certificates to trust has one`(text: String?, problem: String?) async throws {
    try await withFolder { folder in
      let file = "\(folder)/ca.pem"
      try text?.write(toFile: file, atomically: false, encoding: .utf8)
      let arguments = try Arguments(
        ["--outbound-ca", file], options: ServeConfiguration.options, environment: [:])
      var problems = ConfigurationProblems(arguments)
      _ = OutboundConfiguration(arguments, problems: &problems)
      let found = problems.messages.map {
        OperatorText.string($0).replacingOccurrences(of: folder, with: "F")
      }
      #expect(found == [problem].compactMap(\.self))
    }
  }
}

struct GoogleRouteTests {
  private static let proxy = "--outbound-proxy must be http://HOST:PORT"
  private static let address = "--google-address must be HOST:PORT"
  private static let both = "--outbound-proxy and --google-address can't be used together."

  private func read(_ words: [String]) throws -> (route: HTTPClient.Route, problems: [String]) {
    let arguments = try Arguments(words, options: OutboundConfiguration.options, environment: [:])
    var problems = ConfigurationProblems(arguments)
    let outbound = OutboundConfiguration(arguments, problems: &problems)
    return (outbound.googleRoute, problems.messages.map(OperatorText.string))
  }

  @Test func `Google's hosts are reached directly, through a proxy, or at an address`() throws {
    let proxy = HTTPClient.Route.proxy(try #require(HTTPClient.Endpoint("proxy.example.com:3128")))
    let address = HTTPClient.Route.endpoint(try #require(HTTPClient.Endpoint("[2001:db8::1]:8443")))
    let cases: [([String], HTTPClient.Route)] = [
      ([], .direct), (["--outbound-proxy", "http://proxy.example.com:3128"], proxy),
      (["--outbound-proxy", "http://proxy.example.com:3128/"], proxy),
      (["--google-address", "[2001:db8::1]:8443"], address),
    ]
    for (words, route) in cases {
      let found = try read(words)
      #expect(found.route == route && found.problems == [], "\(words)")
    }
  }

  @Test(arguments: [
    "proxy.example.com:3128", "https://proxy.example.com:3128", "http://proxy.example.com",
    "http://sam:secret@proxy.example.com:3128", "http://proxy.example.com:3128/path",
    "socks5://proxy.example.com:1080", "http://",
  ])
  func `an invalid proxy isn't used`(text: String) throws {
    let found = try read(["--outbound-proxy", text])
    #expect(found.route == .direct && found.problems.count == 1)
    #expect(found.problems.allSatisfy { $0.hasPrefix(Self.proxy) && !$0.contains("secret") })
  }

  @Test(arguments: ["10.0.0.8", "https://10.0.0.8:443", "10.0.0.8:0", "10.0.0.8:443/x"])
  func `an invalid address isn't used`(text: String) throws {
    let found = try read(["--google-address", text])
    #expect(found.route == .direct && found.problems.count == 1)
    #expect(found.problems.allSatisfy { $0.hasPrefix(Self.address) })
  }

  @Test func `a proxy and an address exclude each other`() throws {
    let valid = try read(["--outbound-proxy", "http://p:1", "--google-address", "10.0.0.8:443"])
    #expect(valid.problems == [Self.both])
    let invalid = try read(["--outbound-proxy", "p", "--google-address", "10.0.0.8"]).problems
    #expect(invalid.count == 3)
    for (problem, begin) in zip(invalid, [Self.proxy, Self.address, Self.both]) {
      #expect(problem.hasPrefix(begin))
    }
  }
}

struct CertificateWatchTests {
  private static let day: Int64 = 86_400

  private func certificate(from: Int64, to: Int64) -> Certificate {
    Certificate(subject: "/CN=mfa.example.com", notBefore: from * Self.day, notAfter: to * Self.day)
  }

  private func warning(_ certificate: Certificate, at now: Int64) -> String? {
    CertificateWatch.warning(certificate, at: now).map(OperatorText.string)
  }

  @Test(arguments: [
    (0, "isn't valid before 1970-01-02"), (1, nil), (76, nil), (77, "in 14 days"),
    (90, "in 1 day."), (91, "expired on 1970-04-02"), (500, "expired"),
  ])
  func `a certificate causes a warning before it expires and afterwards`(now: Int64, words: String?)
    throws
  {
    let warning = warning(certificate(from: 1, to: 91), at: now * Self.day)
    #expect((warning != nil) == (words != nil))
    if let words { #expect(try #require(warning).contains(words), "\(warning ?? "")") }
  }

  @Test func `a short-lived certificate causes a warning in its last third`() {
    let short = certificate(from: 0, to: 6)
    #expect(warning(short, at: 4 * Self.day - 1) == nil)
    #expect(warning(short, at: 4 * Self.day)?.contains("in 2 days") == true)
    #expect(
      warning(short, at: 6 * Self.day - 1)?.contains("less than a day") == true)
  }

  @Test func `the watch checks once a day`() async throws {
    let warnings = Mutex<[Message]>([])
    let watch = CertificateWatch(
      path: "/nowhere/certificate.pem", say: { line in warnings.withLock { $0.append(line) } })
    let task = watch.repeated
    #expect(task.pause == .seconds(86_400) && !task.atOnce)
    for _ in 0..<3 { #expect(try await !task.part()) }
    #expect(warnings.withLock { $0.count } == 3)
  }
}
