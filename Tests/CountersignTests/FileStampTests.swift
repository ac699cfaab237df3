import Foundation
import Host
import Testing

struct FileStampTests {
  private func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
  }

  @Test func `a file has the same stamp until it's changed`() async throws {
    try await withFolder { folder in
      let path = "\(folder)/file"
      #expect(FileStamp(of: path) == nil)
      try write("one", to: path)
      let stamp = try #require(FileStamp(of: path))
      #expect(stamp.isRegular && FileStamp(of: path) == stamp)
      try write("three", to: path)
      #expect(FileStamp(of: path) != stamp)
    }
  }

  @Test func `a replacement of the same size and time has another stamp`() async throws {
    try await withFolder { folder in
      let (path, other) = ("\(folder)/file", "\(folder)/other")
      let time = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 1_795_000_000)]
      for (path, text) in [(path, "one"), (other, "two")] {
        try write(text, to: path)
        try FileManager.default.setAttributes(time, ofItemAtPath: path)
      }
      let stamp = FileStamp(of: path)
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: other, toPath: path)
      #expect(FileStamp(of: path) != stamp)
    }
  }

  @Test func `a file is the same after changes and moves, but not after it was replaced`()
    async throws
  {
    try await withFolder { folder in
      let (path, other) = ("\(folder)/file", "\(folder)/other")
      try write("one", to: path)
      let stamp = try #require(FileStamp(of: path))
      try write("three", to: path)
      #expect(FileStamp(of: path)?.isSameFile(as: stamp) == true)
      try FileManager.default.moveItem(atPath: path, toPath: other)
      try write("three", to: path)
      #expect(FileStamp(of: path)?.isSameFile(as: stamp) == false)
      #expect(FileStamp(of: other)?.isSameFile(as: stamp) == true)
    }
  }

  @Test func `other permissions have another stamp`() async throws {
    try await withFolder { folder in
      let path = "\(folder)/file"
      try write("one", to: path)
      let stamp = FileStamp(of: path)
      try await Task.sleep(for: .milliseconds(20))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      #expect(FileStamp(of: path) != stamp)
    }
  }

  @Test func `links are followed, also those of folders on the way`() async throws {
    try await withFolder { folder in
      let files = FileManager.default
      for version in ["v1", "v2"] {
        try files.createDirectory(
          atPath: "\(folder)/\(version)", withIntermediateDirectories: false)
        try write(version, to: "\(folder)/\(version)/file")
      }
      try files.createSymbolicLink(
        atPath: "\(folder)/data", withDestinationPath: "v1")
      try files.createSymbolicLink(
        atPath: "\(folder)/file", withDestinationPath: "data/file")
      let stamp = FileStamp(of: "\(folder)/file")
      #expect(stamp != nil && stamp == FileStamp(of: "\(folder)/v1/file"))
      try files.createSymbolicLink(
        atPath: "\(folder)/next", withDestinationPath: "v2")
      try files.removeItem(atPath: "\(folder)/data")
      try files.moveItem(atPath: "\(folder)/next", toPath: "\(folder)/data")
      #expect(FileStamp(of: "\(folder)/file") == FileStamp(of: "\(folder)/v2/file"))
      #expect(FileStamp(of: "\(folder)/file") != stamp)
    }
  }

  @Test func `folders and devices aren't regular files`() async throws {
    try await withFolder { folder in
      #expect(FileStamp(of: folder)?.isRegular == false)
      #expect(FileStamp(of: "/dev/null")?.isRegular == false)
    }
  }
}
