import HTTP
import Identity
import Metrics
import Synchronization
import Testing

@testable import countersign

struct ViolationReportTests {
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])

    var log: Log {
      Log(
        .json, clock: WallClock { Instant(seconds: 1_790_000_000) },
        write: { line, _ in
          self.all.withLock { $0.append(line) }
          return true
        })
    }
  }

  private static func request(
    _ body: String, type: String = ViolationReport.mediaType, method: HTTP.Method = .post,
    path: String = "/csp-reports"
  ) throws -> Request {
    Request(
      method: method, target: try #require(Target(path)), fields: [.contentType: type],
      body: Array(body.utf8))
  }

  private static func report(_ members: [String: String]) -> String {
    let text = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }
    return "{\"csp-report\":{\(text.joined(separator: ","))}}"
  }

  private static func exposition(_ reports: ViolationReports) -> String {
    var exposition = Exposition()
    reports.write(to: &exposition)
    return exposition.text
  }

  @Test func `C6: a violation is counted and logged without paths, queries, and secrets`() throws {
    let lines = Lines()
    let reports = ViolationReports(log: lines.log)
    let body = Self.report([
      "document-uri": "https://mfa.example.com/projects/acme/users/alice?page=SECRET#SECRET",
      "referrer": "https://mfa.example.com/SECRET", "effective-directive": "script-src-elem",
      "violated-directive": "script-src 'self'", "original-policy": "default-src SECRET",
      "blocked-uri": "https://evil.example:8443/SECRET.js?SECRET",
      "source-file": "https://mfa.example.com/SECRET", "script-sample": "SECRET",
    ])
    let response = try #require(reports.response(to: try Self.request(body)))
    #expect(response.status == .noContent && response.route == ViolationReports.route)
    let line = try #require(lines.all.withLock { $0 }.first)
    #expect(!line.contains("SECRET") && !line.contains("alice"))
    #expect(line.contains(#""event":"page.violation""#))
    #expect(
      line.hasSuffix(
        #""directive":"script-src-elem","page":"/projects","blocked":"https://evil.example:8443","#
          + #""source":"https://mfa.example.com"}"#))
    let metric = #"countersign_csp_violations_total{directive="script-src-elem"} 1"#
    #expect(Self.exposition(reports).contains(metric))
  }

  @Test func `C6: anything but a report is refused and changes nothing`() throws {
    let lines = Lines()
    let reports = ViolationReports(log: lines.log)
    let good = Self.report(["effective-directive": "img-src"])
    let cases: [(Request, Int)] = [
      (try Self.request(good, method: .get), 405),
      (try Self.request(good, type: "text/plain"), 415),
      (try Self.request(""), 400), (try Self.request("{}"), 400), (try Self.request("[]"), 400),
      (try Self.request(#"{"csp-report":7}"#), 400),
      (try Self.request(good + String(repeating: " ", count: ViolationReport.limit)), 400),
    ]
    for (request, status) in cases {
      #expect(reports.response(to: request)?.status.code == status)
    }
    #expect(reports.response(to: try Self.request(good, path: "/csp-reports/x")) == nil)
    #expect(lines.all.withLock { $0 }.isEmpty)
    #expect(!Self.exposition(reports).contains("} 1"))
    #expect(ViolationReports.bodyLimit(try #require(Target("/csp-reports"))) == 16_384)
    #expect(ViolationReports.bodyLimit(try #require(Target("/sign-in"))) == nil)
  }

  @Test(arguments: [
    ("script-src-elem", "https://a.example/x", "inline", "script-src-elem", "/x", "inline"),
    ("made-up", "https://a.example", "data", "other", "/", "data"),
    ("img-src", "about:blank", "javascript", "img-src", "other", "other"),
    ("img-src", "https://a/b%0Ac", "https://u:p@b/c", "img-src", "other", "other"),
    ("img-src", "https://a/é", "https://b\\u2028/c", "img-src", "other", "other"),
    ("", "https://a/\\u0001", "//b", "other", "other", "other"),
  ])
  func `C6: a report's fields are limited and validated`(
    named: String, document: String, blocked: String, directive: String, page: String,
    origin: String
  ) throws {
    let body = Self.report([
      "effective-directive": named, "document-uri": document, "blocked-uri": blocked,
    ])
    let report = try #require(ViolationReport(Array(body.utf8)))
    #expect(report.directive == directive && report.page == page && report.blocked == origin)
    #expect(report.source == nil)
    let long = Self.report([
      "violated-directive": "font-src 'self'",
      "document-uri": "https://a/" + String(repeating: "b", count: 100),
      "blocked-uri": "https://" + String(repeating: "b", count: 100),
    ])
    let cut = try #require(ViolationReport(Array(long.utf8)))
    #expect(cut.directive == "font-src" && cut.page == "other" && cut.blocked == "other")
  }
}
