import Foundation
import Host
import Identity
import Localization

/// Reads a policy file whenever it changes, so that the console shows which pools differ from it.
actor PolicyFileWatch {
  private let path: String
  private let policies: Policies
  private let say: @Sendable (LogEvent) -> Void
  /// The stamp of the file that was read last; nil if the last attempt failed.
  private var seen: FileStamp?
  private var complaint: String?

  init(
    path: String, policies: Policies,
    say: @escaping @Sendable (LogEvent) -> Void
  ) {
    self.path = path
    self.policies = policies
    self.say = say
  }

  /// Checks the file every two seconds until the task is canceled.
  func run() async {
    repeat { await check() } while (try? await Task.sleep(for: .seconds(2))) != nil
  }

  /// Reads the file unless it's the one that was read last.
  ///
  /// A file that can't be read is tried again each time, and reported once.
  func check() async {
    let stamp = FileStamp(of: path)
    if let stamp, stamp == seen { return }
    do throws(ConfigurationError) {
      let content = try content(stamp)
      (seen, complaint) = (stamp, nil)
      await compare(content)
    } catch {
      seen = nil
      policies.watch(nil)
      guard complaint != "\(error)" else { return }
      complaint = "\(error)"
      for problem in error.problems { say(.policyFileUnusable(problem)) }
    }
  }

  private func content(_ stamp: FileStamp?) throws(ConfigurationError) -> [UInt8] {
    // Reading a pipe would wait for a writer.
    guard stamp?.isRegular != false else {
      throw ConfigurationError(
        Message("{path} can't be read: it isn't a regular file.", ["path": .text(path)]))
    }
    return try PolicyFileReader.content(of: path)
  }

  private func compare(_ content: [UInt8]) async {
    do {
      let file: PolicyFile
      do {
        file = try PolicyFileReader.parse(content, of: path)
        policies.watch(file)
      } catch {
        policies.watch(nil)
        throw error
      }
      let drifts = try await policies.drift(from: file)
      say(
        .policyFile(
          Message(
            one: "Policy file {path}: {differing} of {count} policy differs from it.",
            other: "Policy file {path}: {differing} of {count} policies differ from it.",
            [
              "path": .text(path), "differing": .number(drifts.count),
              "count": .number(file.pools.count),
            ])))
    } catch let error as PolicyFileError {
      for message in error.messages(of: path) { say(.policyFileUnusable(message)) }
    } catch let error as ConfigurationError {
      for problem in error.problems { say(.policyFileUnusable(problem)) }
    } catch {
      say(.policyFileUnusable(.verbatim("\(error)")))
    }
  }
}
