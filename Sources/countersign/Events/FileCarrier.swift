import Dispatch
import Foundation
import Host
import Identity
import JSON

/// Appends events to a file, one per line.
struct FileCarrier: EventCarrier {
  private let folder: String
  private let file: LineFile
  private let queue = DispatchQueue(label: "event-file")

  /// Creates a carrier.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - name: The name of the file without its extension.
  init(folder: String, name: String) {
    self.folder = folder
    file = LineFile(path: "\(folder)/\(name).jsonl")
  }

  func cancel() {}

  func deliver(_ batch: EventBatch) async -> EventAttempt {
    let lines = batch.events.map { $0.json.serialized() }
    return await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: append(lines)) }
    }
  }

  private func append(_ lines: [[UInt8]]) -> EventAttempt {
    do {
      if !DataFolder.isFolder(folder) {
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
        try FolderOwner.adopt(path: folder)
      }
      try file.append(lines)
      return .delivered
    } catch let error as ConfigurationError {
      return .postponed(error.line)
    } catch {
      return .postponed(OperatorText.reason(of: error))
    }
  }
}
