import Foundation
import Glibc
import Testing

@testable import countersign

struct FolderLockTests {
  /// Copies the descriptor of an open file, as a process that's being spawned does.
  private func copyOfDescriptor(_ path: String) throws -> Int32 {
    let folder = "/proc/self/fd"
    let open = try FileManager.default.contentsOfDirectory(atPath: folder).first { name in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")) == path
    }
    return dup(try #require(open.flatMap { Int32($0) }))
  }

  @Test func `a released lock is free although a process being spawned has the descriptor`()
    async throws
  {
    try await withFolder { folder in
      let path = "\(folder)/server.lock"
      let lock = try #require(try FolderLock(path: path, isShared: false))
      let copy = try copyOfDescriptor(path)
      defer { close(copy) }
      #expect(try FolderLock(path: path, isShared: true) == nil)
      lock.release()
      #expect(try FolderLock(path: path, isShared: false) != nil)
    }
  }

  @Test func `a lock is released with its owner, and releasing it again does nothing`() async throws
  {
    try await withFolder { folder in
      let path = "\(folder)/keys.lock"
      var lock = try FolderLock(path: path, isShared: true)
      let other = try FolderLock(path: path, isShared: true)
      #expect(lock != nil && other != nil)
      other?.release()
      other?.release()
      #expect(try FolderLock(path: path, isShared: false) == nil)
      withExtendedLifetime(lock) {}
      lock = nil
      #expect(try FolderLock(path: path, isShared: false) != nil)
    }
  }
}
