package io.mutex.interceptor;

import io.mutex.run.Timetable;

/**
 * A single run as it is declared, for people and for endpoints.
 *
 * @param beanName the first bean that has the method
 * @param method the class, name and parameter types of the method
 * @param name the declared text of the key, with placeholders resolved
 * @param constant whether the name is itself the key of every call
 * @param policy what "once" means, and the lease
 * @param timetable when its units are due
 * @param parameters whether the method has parameters that a caller fills, so that nobody
 * can call it by hand
 */
public record DeclaredRun(String beanName, String method, String name, boolean constant, String policy,
		Timetable timetable, boolean parameters) {

}
