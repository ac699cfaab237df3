import Foundation
import Glibc
import Host
import Metrics

struct ProcessMetrics: Sendable {
  /// In seconds.
  let processorTime: Double
  /// When the process started, in seconds since 1970.
  let startTime: Double
  let residentBytes: Double
  let virtualBytes: Double
  let openFiles: Int
  let mostFiles: Double

  /// Read once, so that the start doesn't differ from scrape to scrape.
  private static let boot = BootTime.seconds()

  /// Reads the numbers; nil where this process can't read its own folder in `/proc`.
  ///
  /// It reads nothing else there: a service may see only processes (`ProcSubset=pid`).
  init?(proc: String = "/proc") {
    guard let stat = try? String(contentsOfFile: "\(proc)/self/stat", encoding: .utf8),
      let boot = Self.boot,
      let files = try? FileManager.default.contentsOfDirectory(atPath: "\(proc)/self/fd")
    else { return nil }
    // The name of the program, in parentheses, can contain spaces.
    let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    func field(_ number: Int) -> Double { fields.count > number ? Double(fields[number]) ?? 0 : 0 }
    let ticks = Double(max(sysconf(Int32(_SC_CLK_TCK)), 1))
    processorTime = (field(12) + field(13)) / ticks
    startTime = boot + field(20) / ticks
    virtualBytes = field(21)
    residentBytes = field(22) * Double(sysconf(Int32(_SC_PAGESIZE)))
    openFiles = files.count
    mostFiles = OpenFileLimit.current().map { Double($0.soft) } ?? .infinity
  }

  func write(to exposition: inout Exposition) {
    exposition.counterOfSeconds(
      "process_cpu_seconds_total", help: "Processor time of the process.", processorTime)
    exposition.gauge(
      "process_start_time_seconds", help: "When the process started, since 1970.", Sample(startTime)
    )
    exposition.gauge(
      "process_resident_memory_bytes", help: "Resident memory of the process.",
      Sample(residentBytes))
    exposition.gauge(
      "process_virtual_memory_bytes", help: "Virtual memory of the process.", Sample(virtualBytes))
    exposition.gauge(
      "process_open_fds", help: "Open files of the process.", Sample(Double(openFiles)))
    exposition.gauge("process_max_fds", help: "Maximum number of open files.", Sample(mostFiles))
  }
}
