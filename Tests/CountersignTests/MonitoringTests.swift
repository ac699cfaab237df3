import Database
import Foundation
import HTTP
import Identity
import Metrics
import Testing

@testable import countersign
@testable import Crypto
@testable import Host

struct RequestMetricsTests {
  private let page = Route.Label(.get, "/projects/{String}")

  private func text(_ metrics: RequestMetrics) -> String {
    var exposition = Exposition()
    metrics.write(to: &exposition)
    return exposition.text
  }

  @Test func `requests are counted by declared route and status`() {
    let metrics = RequestMetrics()
    metrics.declare([page])
    for status in [200, 200, 404] { metrics.observe(page, status, nanoseconds: 1_000) }
    let text = text(metrics)
    let labels = #"method="GET",route="/projects/{String}""#
    #expect(text.contains("countersign_http_requests_total{\(labels),code=\"200\"} 2\n"))
    #expect(text.contains("countersign_http_requests_total{\(labels),code=\"404\"} 1\n"))
    #expect(text.contains("countersign_http_request_duration_seconds_count{\(labels)} 3\n"))
  }

  @Test func `no request adds a label`() {
    let metrics = RequestMetrics()
    metrics.declare([page])
    for number in 0..<1_000 {
      metrics.observe(Route.Label(Method("M\(number)"), "/\(number)"), number, nanoseconds: 1)
      metrics.observe(nil, -number, nanoseconds: 1)
    }
    let lines = text(metrics).split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(lines.allSatisfy { $0.contains(#"{method="other",route="other""#) })
    #expect(lines.count < 60)
    #expect(lines.contains { $0.contains(#"code="none"} 2"#) })
  }

  @Test func `routes without requests are left out`() {
    let metrics = RequestMetrics()
    metrics.declare([page])
    #expect(text(metrics).isEmpty)
  }
}

struct ProcessMetricsTests {
  /// The folder has no `stat` of the system, as with `ProcSubset=pid` in the unit of the package.
  @Test func `a process that sees only processes in proc has metrics`() async throws {
    try await withFolder { folder in
      let files = FileManager.default
      try files.createDirectory(atPath: folder + "/self/fd", withIntermediateDirectories: true)
      let stat = try String(contentsOfFile: "/proc/self/stat", encoding: .utf8)
      for (name, text) in [("stat", stat), ("fd/0", ""), ("fd/1", ""), ("fd/2", "")] {
        try text.write(toFile: "\(folder)/self/\(name)", atomically: false, encoding: .utf8)
      }
      let metrics = try #require(ProcessMetrics(proc: folder))
      #expect(metrics.openFiles == 3 && metrics.residentBytes > 0)
      let age = Date.now.timeIntervalSince1970 - metrics.startTime
      #expect((-1...86_400).contains(age))
    }
  }
}

struct MonitoringConfigurationTests {
  private func problems(_ words: String...) -> [String] { problems(words) }

  private func problems(_ words: [String]) -> [String] {
    do {
      _ = try ServeConfiguration(Arguments(words, options: ServeConfiguration.options))
      return []
    } catch {
      return (error as? ConfigurationError)?.problems.map(OperatorText.string) ?? ["\(error)"]
    }
  }

  @Test func `the options are read`() throws {
    let words = [
      "--log-format", "text", "--metrics-listen", "[::1]:9090", "--drain-delay", "15",
    ]
    let monitoring = try ServeConfiguration(
      Arguments(words, options: ServeConfiguration.options)
    ).monitoring
    #expect(monitoring.logFormat == .text && monitoring.drainDelay == 15)
    #expect(monitoring.metrics?.host == "::1" && monitoring.metrics?.port == 9090)
  }

  @Test func `metrics and a delay have to be asked for`() throws {
    let monitoring = try ServeConfiguration(
      Arguments([], options: ServeConfiguration.options)
    ).monitoring
    #expect(monitoring.metrics == nil && monitoring.drainDelay == 0)
  }

  @Test(arguments: [
    (["--metrics-listen", "127.0.0.1:8080"], 1),
    (["--listen", "[::1]:9090", "--metrics-listen", "[::1]:9090"], 1),
    (["--listen", "localhost:9090", "--metrics-listen", "LOCALHOST:09090"], 1),
    (["--listen", "127.0.0.1:9090", "--metrics-listen", "127.0.0.1:8080"], 0),
    (["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"], 0),
  ])
  func `the address of the metrics isn't that of the server, also of the default`(
    _ words: [String], _ count: Int
  ) {
    let problems = problems(words)
    #expect(problems.count { $0.contains("have the same address") } == count)
    #expect(problems.count == count)
  }

  @Test(arguments: [
    ("127.0.0.1", "0.0.0.0", true), ("127.0.0.1", "[::]", true), ("[::1]", "[::]", true),
    ("localhost", "[::]", true), ("[::1]", "[0:0:0::1]", true), ("[::1]", "0.0.0.0", false),
    ("localhost", "0.0.0.0", false), ("127.0.0.1", "127.0.0.2", false),
  ])
  func `all addresses include that of the server`(_ one: String, _ other: String, _ overlap: Bool) {
    for (listen, metrics) in [(one, other), (other, one)] {
      // Beyond loopback, these are required.
      let rest = ["--public-url", "https://example.com", "--trusted-proxy", "127.0.0.1"]
      let problems = problems(
        ["--listen", "\(listen):9090", "--metrics-listen", "\(metrics):9090"] + rest)
      #expect(
        problems.count { $0.contains("overlap. Choose another port") } == (overlap ? 1 : 0))
      #expect(problems.count == (overlap ? 1 : 0))
    }
  }

  @Test func `invalid values are all reported`() {
    let problems = problems(
      "--log-format", "xml", "--metrics-listen", "9090", "--drain-delay", "301")
    #expect(problems.count == 3)
    for name in ["--log-format", "--metrics-listen", "--drain-delay"] {
      #expect(problems.contains { $0.contains(name) })
    }
  }
}

struct ServedCertificateTests {
  private func certificate(until end: Int64) -> Certificate {
    Certificate(subject: "/CN=localhost", notBefore: 0, notAfter: end)
  }

  @Test func `a certificate is valid until it expires, and warns before`() {
    let day: Int64 = 86_400
    let served = ServedCertificate()
    #expect(served.notAfter == nil && served.state(at: 0) == (true, true))
    served.note([certificate(until: 90 * day), certificate(until: 365 * day)])
    #expect(served.notAfter == 90 * day)
    #expect(served.state(at: 10 * day) == (true, true))
    #expect(served.state(at: 80 * day) == (true, false))
    #expect(served.state(at: 91 * day) == (false, false))
    // One that ends before it begins is never valid.
    served.note([Certificate(subject: "/CN=localhost", notBefore: 10, notAfter: 5)])
    for time: Int64 in [0, 5, 7, 10, 20] { #expect(!served.state(at: time).isValid) }
  }
}

struct MailHealthTests {
  @Test func `a mail server that can't be reached pauses email until one is sent`() {
    let health = MailHealth()
    #expect(!health.isPaused && health.lastFailure == nil)
    health.record(.unreachable, at: Instant(seconds: 10))
    #expect(health.isPaused && health.lastFailure == Instant(seconds: 10))
    health.record(.sent, at: Instant(seconds: 20))
    #expect(!health.isPaused && health.lastFailure == Instant(seconds: 10))
    health.record(.rejected, at: Instant(seconds: 30))
    #expect(!health.isPaused && health.lastFailure == Instant(seconds: 30))
    #expect(MailHealth.Attempt.allCases.map(health.count) == [1, 1, 0, 1])
  }
}

struct DelayedMailTests {
  @Test(
    arguments: [
      // Nothing waits, however the last attempt ended.
      (true, nil, false), (false, nil, false),
      (true, 990, true), (false, 990, false), (false, 99, true), (false, 100, false),
    ] as [(Bool, Int64?, Bool)])
  func `email is delayed while something waits that can't be sent, or for too long`(
    _ isPaused: Bool, _ oldest: Int64?, _ isDelayed: Bool
  ) {
    #expect(
      Readiness.isDelayed(
        isPaused: isPaused, oldest: oldest.map { Instant(seconds: $0) }, at: Instant(seconds: 1_000)
      ) == isDelayed)
  }
}

struct ClockMetricsTests {
  private func text(_ clock: KernelClock?) -> String {
    var exposition = Exposition()
    ClockMetrics(clock)?.write(to: &exposition)
    return exposition.text
  }

  @Test func `V10: the kernel's knowledge of the clock is measured, or left out`() {
    let fine = text(KernelClock(isSynchronized: true, offset: -2_000, maximumError: 1_500))
    #expect(fine.contains("\ncountersign_clock_synchronized 1\n"))
    #expect(fine.contains("\ncountersign_clock_error_seconds 0.002\n"))
    let free = text(KernelClock(isSynchronized: false, offset: 0, maximumError: 16_000_000))
    #expect(free.contains("\ncountersign_clock_synchronized 0\n"))
    #expect(free.contains("\ncountersign_clock_error_seconds 16\n"))
    // The system call is filtered.
    #expect(text(nil).isEmpty)
  }
}

struct BackupMetricsTests {
  @Test func `the time of the newest backup is measured, and 0 without one, next to its limit`()
    async throws
  {
    try await withFolder { path in
      let folder = BackupFolder(path: path)
      func text() -> String {
        var exposition = Exposition()
        var watch = BackupWatch(folder: folder, limit: 170)
        watch.created = Instant(seconds: 1_000)
        BackupMetrics(watch: watch).write(to: &exposition)
        return exposition.text
      }
      #expect(text().contains("\ncountersign_backup_newest_timestamp_seconds 0\n"))
      #expect(text().contains("\ncountersign_backup_age_limit_seconds 612000\n"))
      #expect(text().hasSuffix("\ncountersign_backup_due_timestamp_seconds 613000\n"))
      for second in [1_795_262_400, 1_795_176_000] as [Int64] {
        let file = folder.file(at: Instant(seconds: second))
        try Data("backup".utf8).write(to: URL(filePath: file))
      }
      #expect(text().contains("\ncountersign_backup_newest_timestamp_seconds 1795262400\n"))
      #expect(text().hasSuffix("\ncountersign_backup_due_timestamp_seconds 1795874400\n"))
    }
  }
}

struct DatabaseMetricsTests {
  private func text(_ server: ServerStatistics?, holdsTasks: Bool = true) -> String {
    var exposition = Exposition()
    let statistics = DatabaseStatistics(
      reads: 7, writes: 5, commits: 4, waitingWrites: 3,
      groups: [3, 1] + Array(repeating: 0, count: 7), server: server)
    DatabaseMetrics(statistics: statistics, holdsTasks: holdsTasks).write(to: &exposition)
    return exposition.text
  }

  private let server = ServerStatistics(
    reading: 2, writing: 8, waitingReads: 4, retries: 6,
    roundTrips: Distribution(bounds: [1], counts: [9, 1], sum: 3))

  @Test func `a file has a writer, and no connections`() {
    let text = text(nil)
    #expect(text.contains("\ncountersign_database_reads_total 7\n"))
    #expect(text.contains("\ncountersign_database_writes_total 5\n"))
    #expect(text.contains("\ncountersign_writer_queue_length 3\n"))
    #expect(text.contains("\ncountersign_writer_group_size_count 4\n"))
    for name in ["connections", "queue_length{", "round_trip", "retries", "tasks"] {
      #expect(!text.contains(name))
    }
  }

  @Test func `a database on a server has connections, and no writer`() {
    let text = text(server)
    for line in [
      "database_reads_total 7", "database_writes_total 5",
      #"database_connections_used{kind="read"} 2"#, #"database_connections_used{kind="write"} 8"#,
      #"database_queue_length{kind="read"} 4"#, #"database_queue_length{kind="write"} 3"#,
      "database_round_trip_seconds_sum 3", "database_round_trip_seconds_count 10",
      "database_retries_total 6", "tasks_held 1",
    ] {
      #expect(text.contains("\ncountersign_\(line)\n"), "\(line)")
    }
    #expect(!text.contains("writer"))
    #expect(self.text(server, holdsTasks: false).contains("\ncountersign_tasks_held 0\n"))
  }
}

struct MetricTableTests {
  @Test func `docs/monitoring.md lists the names of all metrics, and no other`() throws {
    func text(_ path: String) throws -> String {
      try String(contentsOfFile: "\(packageFolder)/\(path)", encoding: .utf8)
    }
    var names: Set<String> = []
    for file in try FileManager.default.subpathsOfDirectory(
      atPath: "\(packageFolder)/Sources/countersign") where file.hasSuffix(".swift")
    {
      let literals = try text("Sources/countersign/\(file)").matches(of: #/"(countersign_\w+)"/#)
      names.formUnion(literals.map { String($0.1) })
    }
    let page = try text("docs/monitoring.md")
    let below = page[try #require(page.range(of: "\n## Metrics\n")).upperBound...]
    let section = below[..<(try #require(below.range(of: "\n## ")).lowerBound)]
    var listed: Set<String> = []
    for row in section.matches(of: #/\n\| (`[^|]+) \|/#) {
      listed.formUnion(row.1.matches(of: #/`(countersign_\w+)`/#).map { String($0.1) })
    }
    #expect(names.contains("countersign_ready"))
    #expect(names.subtracting(listed).sorted() == [], "not in docs/monitoring.md")
    #expect(listed.subtracting(names).sorted() == [], "never measured")
  }
}

struct ReadinessDocumentTests {
  @Test(arguments: [
    ("docs/pages.md", "| `/readyz` |", "\n"), ("docs/monitoring.md", "`/readyz` returns", "\n\n"),
  ])
  func `the documents name every cause of an unready server`(
    path: String, start: String, end: String
  ) throws {
    let text = try String(contentsOfFile: "\(packageFolder)/\(path)", encoding: .utf8)
    let rest = text[try #require(text.range(of: start)).upperBound...]
    let section = rest[..<(try #require(rest.range(of: end)).lowerBound)]
    // The others only warn.
    let causes =
      Readiness.Check.allCases.filter { ![.clock, .mail, .auditFile].contains($0) }.map(\.rawValue)
      + [
        "starting", "draining",
      ]
    #expect(causes.filter { !section.contains("`\($0)`") } == [])
  }
}
