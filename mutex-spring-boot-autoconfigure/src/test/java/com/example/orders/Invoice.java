package com.example.orders;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;

/**
 * What is owed for the orders of a day.
 */
@Entity
class Invoice {

	@Id
	@GeneratedValue
	private long id;

	private String businessDay = "";

	protected Invoice() {
	}

	Invoice(String businessDay) {
		this.businessDay = businessDay;
	}

	long getId() {
		return this.id;
	}

	String getBusinessDay() {
		return this.businessDay;
	}

}
