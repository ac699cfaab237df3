import Foundation
import Identity
import Synchronization
import Testing

@testable import countersign

struct AuditFileTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test func `lines are appended, and a line that a crash cut off ends first`() async throws {
    try await withFolder { folder in
      let path = folder + "/audit.jsonl"
      try await AuditFileOutput(path, in: DataFolder(path: folder)).append([Array("one".utf8)])
      let handle = try #require(FileHandle(forWritingAtPath: path))
      try handle.seekToEnd()
      try handle.write(contentsOf: Data("{\"cut".utf8))
      try handle.close()
      try await AuditFileOutput(path, in: DataFolder(path: folder)).append([
        Array("two".utf8), Array("three".utf8),
      ])
      #expect(try text(path) == "one\n{\"cut\ntwo\nthree\n")
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect((mode as? NSNumber)?.intValue == 0o640)
    }
  }

  @Test func `a file that can't be written, or is locked, has no part of the lines`() async throws {
    try await withFolder { folder in
      let path = folder + "/audit.jsonl"
      let output = try AuditFileOutput(path, in: DataFolder(path: folder))
      try await output.append([Array("one".utf8)])
      let other = try FolderLock(path: path, isShared: false)
      await #expect(throws: ConfigurationError.self) {
        try await output.append([Array("two".utf8)])
      }
      other?.release()
      let full = await #expect(throws: ConfigurationError.self) {
        try await AuditFileOutput("/dev/full", in: DataFolder(path: folder)).append([
          Array("two".utf8)
        ])
      }
      #expect(full.map { "\($0)" } == "/dev/full can't be written: No space left on device")
      #expect(try text(path) == "one\n")
    }
  }

  @Test func `a moved file is left when it's reopened, and a deleted one at once`() async throws {
    try await withFolder { folder in
      let (path, former) = (folder + "/audit.jsonl", folder + "/audit.jsonl.1")
      let output = try AuditFileOutput(path, in: DataFolder(path: folder))
      try FileManager.default.moveItem(atPath: path, toPath: former)
      try await output.append([Array("one".utf8)])
      try await output.reopen()
      try await output.append([Array("two".utf8)])
      #expect(try text(former) == "one\n")
      #expect(try text(path) == "two\n")
      try FileManager.default.removeItem(atPath: path)
      try await output.append([Array("three".utf8)])
      #expect(try text(path) == "three\n")
    }
  }

  @Test func `a failure is logged once, and nothing is left out or repeated afterwards`()
    async throws
  {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let instance = try await Instance.existing(folder, migrates: true)
      // The first one creates the key that signs, and with it another entry.
      for _ in 0..<2 { try await instance.identity.auditChain.finish() }
      let said = Mutex<[String]>([])
      let log = Log(
        .text,
        write: { line, _ in
          said.withLock { $0.append(line) }
          return true
        })
      let path = parent + "/logs/audit.jsonl"
      try FileManager.default.createDirectory(
        atPath: parent + "/logs", withIntermediateDirectories: false)
      let output = try AuditFileOutput(path, in: folder)
      try FileManager.default.removeItem(atPath: parent + "/logs")
      let writer = AuditFileWriter(instance.identity, output, log: log)
      for _ in 0..<2 { await writer.finish() }
      #expect(await writer.isDelayed)
      try FileManager.default.createDirectory(
        atPath: parent + "/logs", withIntermediateDirectories: false)
      for _ in 0..<2 { await writer.finish() }
      #expect(await !writer.isDelayed)
      #expect(await writer.lag == 0)
      let written = try text(path)
      #expect(written.hasSuffix("}\n") && written.contains("\"type\":\"head\""))
      let lines = said.withLock { $0 }
      #expect(lines.count == 2)
      #expect(lines.first?.contains("\(path) can't be written: No such file or directory") == true)
      #expect(lines.last?.contains("is written to \(path) again") == true)
      // The next start continues at the stored position, whatever the file has.
      try FileManager.default.removeItem(atPath: path)
      await AuditFileWriter(
        instance.identity, try AuditFileOutput(path, in: folder), log: log
      ).finish()
      #expect(try text(path).isEmpty)
      // Without one, it begins with the first entry.
      try FileManager.default.removeItem(atPath: path + ".position")
      await AuditFileWriter(
        instance.identity, try AuditFileOutput(path, in: folder), log: log
      ).finish()
      #expect(try text(path) == written)
      await instance.database.close()
    }
  }

  @Test func `a file is late by entries since it began, sealed or not`() async throws {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let instance = try await Instance.existing(folder, migrates: true)
      // The first entry happened when the instance was created, a day before the file begins.
      let began = WallClock.system.now()
      let shift = Mutex<Int64>(86_400)
      let clock = WallClock { began.advanced(bySeconds: shift.withLock { $0 }) }
      let identity = try Identity(
        database: instance.database, keys: instance.keys, profile: .standalone,
        hasher: instance.hasher, mail: instance.mail, clock: clock)
      let path = parent + "/audit.jsonl"
      let writer = AuditFileWriter(
        identity, try AuditFileOutput(path, in: folder), log: Log(.text, write: { _, _ in true }))
      // Nothing is sealed, as while a transaction prevents it.
      await writer.finish()
      #expect(await writer.lag == 0)
      shift.withLock { $0 += 700 }
      #expect(await writer.lag == 700)
      #expect(await writer.isDelayed)
      try await identity.auditChain.finish()
      await writer.finish()
      #expect(await writer.lag == 0)
      #expect(await !writer.isDelayed)
      await instance.database.close()
    }
  }

  @Test func `servers that share a data folder don't share a position`() async throws {
    try await withFolder { folder in
      let data = DataFolder(path: folder)
      let places = try ["a", "b"].map { try AuditFileOutput("\(folder)/\($0)", in: data).position }
      #expect(Set(places).count == 2)
      let lock = try data.lockStandardOutput()
      let error = #expect(throws: ConfigurationError.self) { try AuditFileOutput("-", in: data) }
      #expect(error?.isTemporary == true)
      lock?.release()
    }
  }
}
