public import Localization
import Synchronization

/// Names browsers by their user agent.
public enum BrowserText {
  /// A cache, because matching a user agent costs more than rendering a row.
  private static let names = Mutex<[String: Message]>([:])
  private static let mostNames = 500

  /// Returns the name, such as `Firefox on Windows`, or “Unknown browser”.
  public static func name(_ userAgent: String) -> Message {
    known(userAgent) ?? Message("Unknown browser")
  }

  /// Returns the name, such as `Firefox on Windows`; nil for an unknown user agent.
  ///
  /// User agents also name other browsers for compatibility, so the order of the list matters.
  public static func known(_ userAgent: String) -> Message? {
    let kept = names.withLock { $0[userAgent] }
    let name = kept ?? found(userAgent) ?? .verbatim("")
    if kept == nil {
      names.withLock { names in
        // Clients choose their user agents, so the cache has to be bounded.
        if names.count >= mostNames { names = [:] }
        names[userAgent] = name
      }
    }
    return name.isEmpty ? nil : name
  }

  private static func found(_ userAgent: String) -> Message? {
    let browsers = [
      ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"),
      ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"),
      ("Chromium/", "Chromium"), ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"),
    ]
    let systems = [
      ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
      ("CrOS", "ChromeOS"), ("Mac OS X", "macOS"), ("Linux", "Linux"),
    ]
    let browser = browsers.first { userAgent.contains($0.0) }?.1
    let system = systems.first { userAgent.contains($0.0) }?.1
    switch (browser, system) {
    case (let browser?, let system?):
      return Message("{browser} on {system}", ["browser": .text(browser), "system": .text(system)])
    case (let browser?, nil): return .verbatim(browser)
    case (nil, let system?):
      return Message("A browser on {system}", ["system": .text(system)])
    case (nil, nil): return nil
    }
  }
}
