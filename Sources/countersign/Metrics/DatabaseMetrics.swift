import Database
import Identity
import Metrics

/// What was read and written, and who waits: for the writer of a file, or for a connection to a
/// server.
struct DatabaseMetrics: Sendable {
  let statistics: DatabaseStatistics
  /// Whether this server does the tasks that one of several does.
  let holdsTasks: Bool

  func write(to exposition: inout Exposition) {
    exposition.counter(
      "countersign_database_reads_total", help: "Reads of the database.",
      [Sample(statistics.reads)])
    exposition.counter(
      "countersign_database_writes_total", help: "Writes that the database has stored.",
      [Sample(statistics.writes)])
    exposition.histogram(
      "countersign_database_commit_seconds", help: "Time that commits took.",
      [Sample(statistics.commitTimes)])
    if let server = statistics.server {
      write(server, to: &exposition)
    } else {
      writeWriter(to: &exposition)
    }
  }

  private func writeWriter(to exposition: inout Exposition) {
    exposition.gauge(
      "countersign_writer_queue_length", help: "Writes that wait for the writer.",
      Sample(Double(statistics.waitingWrites)))
    exposition.histogram(
      "countersign_writer_group_size", help: "Writes per commit.",
      [
        Sample(
          Distribution(
            bounds: statistics.groups.indices.map { Double(1 << $0) },
            counts: statistics.groups + [0], sum: Double(statistics.writes)))
      ])
  }

  private func write(_ server: ServerStatistics, to exposition: inout Exposition) {
    func samples(reads: Int, writes: Int) -> [Sample<Double>] {
      [(SlowUse.Kind.read, reads), (.write, writes)].map { kind, number in
        Sample(Double(number), ["kind": kind.rawValue])
      }
    }
    exposition.gauges(
      "countersign_database_connections_used",
      help: "Connections to the database's server that reads or writes use.",
      samples(reads: server.reading, writes: server.writing))
    exposition.gauges(
      "countersign_database_connections_open",
      help: "Connections to the database's server that are open.",
      samples(reads: server.openReading, writes: server.openWriting))
    exposition.gauges(
      "countersign_database_connections_wanted",
      help: "Reads or writes that use a connection, or wait for one.",
      samples(
        reads: server.reading + server.waitingReads,
        writes: server.writing + statistics.waitingWrites))
    exposition.counter(
      "countersign_database_connections_refused_total",
      help: "Connections that the database's server refused because it has too many.",
      [Sample(server.refused)])
    exposition.gauges(
      "countersign_database_queue_length", help: "Reads or writes that wait for a connection.",
      samples(reads: server.waitingReads, writes: statistics.waitingWrites))
    exposition.histogram(
      "countersign_database_round_trip_seconds",
      help: "Time from sending statements to the last of their results.",
      [Sample(server.roundTrips)])
    exposition.counter(
      "countersign_database_retries_total",
      help: "Runs of writes after the first, because they conflicted with others.",
      [Sample(server.retries)])
    exposition.gauge(
      "countersign_tasks_held", help: "1 if this server does the tasks that one of several does.",
      Sample(holdsTasks ? 1 : 0))
  }
}

extension DatabaseMetrics {
  init(_ instance: Instance) {
    self.init(
      statistics: instance.database.statistics, holdsTasks: instance.identity.taskLease.isHeld)
  }
}
